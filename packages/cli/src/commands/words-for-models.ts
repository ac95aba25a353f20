// These texts are English in every language of the app: models read them.

export const INIT_PROMPT = `Look at this project (its files, its build and test commands, its conventions) and write an AGENTS.md at its root for
coding agents: what the project is, how it is laid out, the commands to build, check and test it, and the rules
that its code follows. Keep it under 80 lines, and state only what you have seen. If there is an AGENTS.md
already, improve it and keep what is right. If there is none, but a CLAUDE.md, GEMINI.md or QWEN.md, take its rules
over: it is not read beside an AGENTS.md.`;

export const REVIEW_PROMPT = `Review the changes in the working tree (git status, git diff, git diff --staged, and new files). Report faults
that matter: wrong behaviour, missed cases, security, races, broken interfaces, missing tests. Name file and line,
say why it is a fault and how to put it right, the worst first. Change nothing.`;

export const TEST_SYSTEM = "You are being tested.";
export const TEST_PROMPT = "Answer with the word ok.";

/** Returns the start of a prompt that asks for a subagent. */
export function buildAgentPrompt(name: string): string {
  return `Let the subagent ${name} do this: `;
}

export function buildSkillPrompt(name: string): string {
  return `Use the skill ${name}: `;
}

/** Tells the model which command the user has run, and its output. */
export function describeUserCommand(command: string, output: string): string {
  return `I ran \`${command}\` myself:\n\n${output}`;
}
