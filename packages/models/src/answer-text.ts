type Response = Readonly<Record<string, unknown>> | undefined;

/** The text of a tool's answer. */
export function answerText(response: Response): string {
  if (!response) return "";
  if (typeof response.output === "string") return response.output;
  if (typeof response.error === "string") return response.error;
  return JSON.stringify(response);
}

export function isErrorAnswer(response: Response): boolean {
  return typeof response?.error === "string" && typeof response.output !== "string";
}

/** The answer where the protocol has no mark for an error, so that the text has to say it. */
export function markedAnswerText(response: Response): string {
  return isErrorAnswer(response) ? `Error: ${answerText(response)}` : answerText(response);
}
