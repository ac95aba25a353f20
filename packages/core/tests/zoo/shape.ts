/** One way in which a service streams a reply, and what has to come of it. */
export interface Shape {
  readonly title: string;
  /** The data of the events, in order; a string is sent as it is. */
  readonly data: readonly unknown[];
  readonly gives: Outcome;
}

export interface Outcome {
  readonly text?: string;
  readonly thought?: string;
  /** Name and arguments; a string in their place is a word of the reason why there are none. */
  readonly calls?: readonly (readonly [string, object | string])[];
  /** `stop` where nothing is said; another word is the type of the failure. */
  readonly end?: string;
}

export function shape(title: string, data: readonly unknown[], gives: Outcome): Shape {
  return { title, data, gives };
}

export const READ = ["read_file", { path: "a.ts" }] as const;
export const GLOB = ["glob", { pattern: "*.ts" }] as const;
export const READ_JSON = '{"path":"a.ts"}';
export const GLOB_JSON = '{"pattern":"*.ts"}';
