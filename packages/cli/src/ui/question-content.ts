import { isAbsolute, relative } from "node:path";
import type { Confirmation, QuestionView } from "@burin/core";
import { say } from "../locales/say.ts";
import { formatText, type Line, wrapLine } from "../terminal/styled-line.ts";
import { drawDiff, drawDiffSummary } from "./displays/file-diff.ts";
import { drawMarkdown } from "./markdown.ts";
import { drawReach } from "./question-reach.ts";

interface ShownQuestion {
  readonly confirmation: Confirmation;
  readonly view: QuestionView;
  /** The project folder. */
  readonly root: string;
}

/** Returns everything that the call would do. */
export function drawQuestionContent(shown: ShownQuestion, width: number): Line[] {
  const { confirmation, view } = shown;
  if (confirmation.kind === "plan") return drawMarkdown(confirmation.plan, width, false);
  if (confirmation.kind === "exec") return drawCommand(shown, confirmation, width);
  if (confirmation.kind === "edit")
    return [
      ...drawFile(shown, confirmation, width),
      ...drawDiff(confirmation.diff.fileDiff, width, confirmation.path),
    ];
  return [
    ...view.target.flatMap((text) => wrapLine([{ text: formatText(text), style: "strong" }], width)),
    ...view.lines.flatMap((text) => wrapLine([{ text: formatText(text) }], width, "  ")),
  ];
}

/** Returns the file's path within the project folder, and how much of it changes. */
function drawFile(
  { view, root }: ShownQuestion,
  { path, diff }: Extract<Confirmation, { kind: "edit" }>,
  width: number,
): Line[] {
  const place = relative(root, path);
  const [name = ""] = place.startsWith("..") || isAbsolute(place) ? view.target : [place];
  return wrapLine(
    [{ text: formatText(name), style: "strong" }, { text: "  " }, ...drawDiffSummary(diff)],
    width,
  );
}

/** Returns the whole command, what its parts would do, and its folder if that is not the project folder. */
function drawCommand(
  { view, root }: ShownQuestion,
  { directory = "" }: Extract<Confirmation, { kind: "exec" }>,
  width: number,
): Line[] {
  const place = relative(root, directory);
  const isElsewhere = isAbsolute(place) || place !== "";
  const where = isElsewhere
    ? say("question.folder", { folder: formatText(place.startsWith("..") ? directory : place) })
    : "";
  return [
    ...view.lines.flatMap((text) =>
      wrapLine([{ text: `  ${formatText(text)}`, style: "strong" }], width, "    "),
    ),
    ...(where === "" ? [] : wrapLine([{ text: `  ${where}`, style: "dim" }], width, "    ")),
    ...(view.reach.length > 1 ? [[]] : []),
    ...drawReach(view, width),
  ];
}
