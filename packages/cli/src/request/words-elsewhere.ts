/** What to write here, and the commands and options of other agents that mean it: Claude Code, Codex, Gemini CLI, Qwen
 * Code, opencode, aider, Crush, goose, Amp, Copilot CLI and Cursor's agent. */
export const FOREIGN_COMMANDS = Object.entries({
  "-p": "--prompt --message --execute -x --text",
  "--version": "-V",
  "--yes": `
    --yolo --dangerously-skip-permissions --dangerously-bypass-approvals-and-sandbox --yes-always
    --dangerously-allow-all --allow-all --allow-all-tools --allow-dangerously-skip-permissions --force
    --autopilot`,
  "--approval-mode": "--permission-mode --ask-for-approval -a",
  "--approval-mode auto-edit": "--full-auto --auto-edit",
  "--approval-mode plan": "--dry-run --plan",
  "--check": "--test-cmd --lint-cmd --auto-test --auto-lint",
  "--allow": "--allowedTools --allowed-tools --allow-tool --allow-url",
  "--deny": "--disallowedTools --disallowed-tools --deny-tool --deny-url --exclude-tools --excluded-tools",
  "--sandbox": "-s",
  "--include-directories": "--add-dir --allow-all-paths",
  "--json-schema": "--output-schema",
  "--no-session": "--ephemeral --no-session-persistence --chat-recording",
  "--output-format": "--format -o",
  "--output-format stream-json (it has everything)":
    "--verbose --debug -d --include-partial-messages --replay-user-messages --stream-json",
  "--input-format stream-json": "--stream-json-input",
  "--quiet": "--silent",
  "--max-turns": "--max-session-turns --max-steps --max-autopilot-continues",
  "--budget": "--max-budget-usd --max-cost",
  "--fork": "--fork-session",
  "to leave it out (Burin needs no git, and commits nothing by itself)":
    "--skip-git-repo-check --no-git --no-auto-commits --auto-commits --dirty-commits --no-dirty-commits",
  "to leave it out (burin undo always works)": "--checkpointing",
  "to leave it out (the text of the terminal stays where it is)": "--no-alt-screen --alt-screen --tmux",
  "to leave it out (Burin never updates itself)": "--no-auto-update --just-check-update",
  "to leave it out (the model reads the files that it needs)": "--all-files --map-tokens --subtree-only",
  "--root": "--cwd --cd -C --dir --workspace",
  "-c": "--last --restore-chat-history",
  "--resume": "--session --session-id --thread",
  "--settings": "--config --profile --settings-file",
  "export BURIN_HOME=DIR": "--config-dir --data-dir -D",
  "export HTTPS_PROXY=<address>": "--proxy",
  "@FILE in the prompt": "--file --read --image -f",
  'burin "prompt"': "-i --prompt-interactive --interactive",
  'burin -p "prompt"': "exec run",
  "burin -p < FILE": "--message-file --instructions",
  "-q, and > FILE behind it": "--output-last-message",
  "AGENTS.md, whose text is added to the system prompt":
    "--system-prompt --append-system-prompt --system --system-prompt-file --append-system-prompt-file",
  "-m service/name": "--provider",
  "-m NAME": "--opus --sonnet --haiku --4o --deepseek --weak-model --editor-model",
  "export OPENAI_API_KEY=<key>": "--api-key --openai-api-key",
  "export OPENAI_BASE_URL=<address>": "--base-url --openai-base-url --openai-api-base",
  "export OPENAI_BASE_URL=http://127.0.0.1:11434/v1 (Ollama's)": "--oss --local-provider",
  "to unset the variable with the key, such as OPENAI_API_KEY (no login is kept)": "logout",
  '"model": {"reasoning": "high"} (~/.burin/settings.json)':
    "--effort --thinking --reasoning-effort --thinking-tokens --variant",
  '"tools": {"include": ["read_file"]} (~/.burin/settings.json)':
    "--tools --no-tools --available-tools --core-tools",
  '"web": {"search": {"provider": "tavily"}} (~/.burin/settings.json)': "--search --tavily-api-key",
  '"ui": {"vim": true} (~/.burin/settings.json)': "--vim",
  '"ui": {"screenReader": true} (~/.burin/settings.json)': "--screen-reader",
  "burin alone": "chat",
  "burin alone (it asks for a service and its key) or export OPENAI_API_KEY=<key>":
    "auth login configure providers setup-token",
  "~/.burin/settings.json": "config settings features --fallback-model --setting-sources --enable --disable",
  "burin mcp add":
    "--mcp-config --additional-mcp-config --strict-mcp-config --with-extension --allowed-mcp-server-names",
  "burin models": "--list-models provider",
  "burin serve acp": "acp --acp --experimental-acp --ide --jetbrains",
  "burin serve mcp": "mcp-server --mcp",
  "burin serve acp (for an editor), or burin fleet serve (a page about many tasks)":
    "web app-server --gui --browser",
  "burin sessions list": "list ls thread threads --list-sessions",
  "burin sessions list --all": "project projects",
  "burin sessions show ID": "logs --log-level --log-file --log-dir --print-logs",
  "burin sessions rm": "--delete-session",
  "burin plugins":
    "plugin extension extensions --extensions -e --list-extensions --plugin-dir --with-builtin -l",
  "burin -c, or burin -r": "resume attach",
  "burin grants": "permissions permission",
  "burin doctor": "status whoami info debug",
  "burin undo (edits are in your files already; this takes them back)": "apply --apply",
  "/export in the app, which writes the session to a page": "share export --share --share-gist",
  "/rename in the app": "--name -n --title",
  "/theme in the app": "--theme --dark-mode --light-mode",
  "/cost in the app": "stats usage",
  "a file ~/.burin/agents/NAME.md, which defines a subagent": "agent --agent --agents",
  "a file ~/.burin/skills/NAME/SKILL.md": "skill",
  "a file ~/.burin/commands/NAME.md, and then burin -p /NAME": "recipe --recipe --command",
  'cron, with burin -p "prompt"': "schedule cron",
  'burin call run_shell_command \'{"command": "..."}\'': "sandbox",
  "the action of this repository (docs/automation.md)": "github",
  "npm i -g burin@latest": "update upgrade --upgrade",
});

/** Commands of other agents that take an action on what they name. A prompt never begins with these two words. */
export const COMMANDS_WITH_ACTIONS = `
  agent auth config extension extensions features github list permissions plugin project projects
  provider providers recipe schedule settings skill thread threads`
  .trim()
  .split(/\s+/);
const ACTIONS = new Set(
  `
  add create delete disable edit enable export get import info install link list login logout ls new
  open remove rename rm run run-now search set share show status test uninstall unset update use
  validate`
    .trim()
    .split(/\s+/),
);

/** Whether these words are probably another agent's command: it stands alone, with one word, or with an action. */
export function isForeignCommand(word: string, more: readonly string[]): boolean {
  return more.length < 2 || (COMMANDS_WITH_ACTIONS.includes(word) && ACTIONS.has(more[0] ?? ""));
}
