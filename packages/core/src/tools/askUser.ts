import type { JsonSchema } from "@burin/contract/messages/message";
import { closedObject, flag, list, NON_EMPTY, type OptionValue, text } from "@burin/contract/messages/option";
import {
  type ChoiceQuestion,
  type PreparedCall,
  PreparingTool,
  type ToolResult,
} from "@burin/contract/tools";

const CHOICE = closedObject(["label"], {
  label: text("A few words.", NON_EMPTY),
  description: text("What it would mean."),
});
const QUESTION = closedObject(["question", "choices"], {
  question: text("One whole question.", NON_EMPTY),
  choices: list(CHOICE, "2 to 6 answers to choose from; words of their own are always possible."),
  multiple: flag("Several of them may be chosen."),
});
const PARAMETERS = closedObject(["questions"], {
  questions: list(QUESTION, "1 to 4 questions, asked together."),
});
export type AskUserParams = OptionValue<typeof PARAMETERS>;

const MAX_QUESTIONS = 4;
const [MIN_CHOICES, MAX_CHOICES] = [2, 6];

/** Lets the model ask what only the user can decide. Offered only if somebody can answer. */
export class AskUser extends PreparingTool<AskUserParams> {
  readonly name = "ask_user";
  readonly displayName = "AskUser";
  readonly kind = "plan";
  readonly description = [
    "Asks the user what you cannot find out yourself",
    "and what changes what you would do: a choice between ways, a missing requirement.",
    "Put all your questions into one call; in plan mode, before you show the plan.",
    "Do not ask whether to go on, and do not ask for approval: tools that need it ask by themselves.",
  ].join(" ");
  readonly parameterSchema = PARAMETERS;

  getDescription({ questions }: AskUserParams): string {
    return questions.map(({ question }) => question).join(" · ");
  }

  async prepare({ questions }: AskUserParams): Promise<PreparedCall> {
    const [first] = questions;
    return {
      confirmation: {
        kind: "form",
        title: first?.question ?? "",
        server: "",
        message: "",
        schema: buildAnswerSchema(questions),
        questions,
        grants: [],
      },
      run: async (approval) => buildResult(questions, approval?.outcome === "filled" ? approval.values : {}),
    };
  }

  protected override checkParams({ questions }: AskUserParams): string | null {
    if (questions.length === 0 || questions.length > MAX_QUESTIONS)
      return `Ask 1 to ${MAX_QUESTIONS} questions at once, not ${questions.length}.`;
    for (const { question, choices } of questions) {
      if (question.trim() === "") return "A question is empty.";
      if (choices.length < MIN_CHOICES || choices.length > MAX_CHOICES)
        return `"${question}" has ${choices.length} choices; give ${MIN_CHOICES} to ${MAX_CHOICES}.`;
      const labels = choices.map(({ label }) => label.trim());
      if (labels.includes("")) return `A choice of "${question}" has no label.`;
      if (new Set(labels).size < labels.length) return `Two choices of "${question}" have the same label.`;
    }
    return null;
  }
}

/** Returns the names of a question's values in the form. `index` counts from 0. */
export function buildAnswerNames(index: number): { readonly choice: string; readonly words: string } {
  return { choice: `answer_${index + 1}`, words: `answer_${index + 1}_words` };
}

function buildAnswerSchema(questions: readonly ChoiceQuestion[]): JsonSchema {
  const properties: Record<string, JsonSchema> = {};
  for (const [index, { question, choices, multiple }] of questions.entries()) {
    const names = buildAnswerNames(index);
    const labels = choices.map(({ label }) => label);
    properties[names.choice] = multiple
      ? { type: "array", title: question, items: { type: "string", enum: labels } }
      : { type: "string", title: question, enum: labels };
    properties[names.words] = { type: "string", title: "In your own words" };
  }
  return { type: "object", properties };
}

/**
 * Converts typed answers to the form's values, for front ends that cannot show a panel. A text may be the label or the
 * number of a choice (several with commas, if several may be chosen) or any other words. Each question has its own
 * text.
 */
export function parseAnswers(
  questions: readonly ChoiceQuestion[],
  texts: readonly string[],
): Readonly<Record<string, unknown>> {
  const values: Record<string, unknown> = {};
  for (const [index, { choices, multiple }] of questions.entries()) {
    const given = texts[index]?.trim() ?? "";
    const names = buildAnswerNames(index);
    const findLabel = (word: string): string | undefined =>
      choices.find(
        ({ label }, at) =>
          label.toLowerCase() === word.trim().toLowerCase() || String(at + 1) === word.trim(),
      )?.label;
    const labels = multiple ? given.split(",").map(findLabel) : [findLabel(given)];
    if (given === "") continue;
    if (labels.includes(undefined)) values[names.words] = given;
    else values[names.choice] = multiple ? labels : labels[0];
  }
  return values;
}

function buildResult(
  questions: readonly ChoiceQuestion[],
  values: Readonly<Record<string, unknown>>,
): ToolResult {
  const answers = questions.map(({ question, choices }, index) => {
    const names = buildAnswerNames(index);
    const known = choices.map(({ label }) => label);
    const chosen = [values[names.choice]].flat().filter((one): one is string => known.includes(String(one)));
    const words = values[names.words];
    const own = typeof words === "string" && words.trim() !== "" ? [words.trim()] : [];
    return { question, chosen, own };
  });
  if (answers.every(({ chosen, own }) => chosen.length === 0 && own.length === 0))
    return { llmContent: NO_ANSWER, returnDisplay: "No answer." };
  const llmContent = answers.flatMap(({ question, chosen, own }, index) => {
    const said = [...chosen, ...own.map((words) => `in their own words: ${words}`)];
    return [`${index + 1}. ${question}`, `   ${said.length === 0 ? "(no answer)" : said.join("; ")}`];
  });
  const shown = answers.map(({ chosen, own }) => [...chosen, ...own].join(", ") || "–");
  return { llmContent: ["The user answered:", ...llmContent].join("\n"), returnDisplay: shown.join(" · ") };
}

const NO_ANSWER =
  "The user left the questions unanswered. Go on with what you think best, and say which choices you made.";
