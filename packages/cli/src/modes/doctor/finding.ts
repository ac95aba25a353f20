export interface Finding {
  readonly name: string;
  readonly state: "ok" | "warn" | "fail";
  readonly message: string;
}

export function findings(name: string) {
  const as =
    (state: Finding["state"]) =>
    (message: string): Finding => ({ name, state, message });
  return { ok: as("ok"), warn: as("warn"), fail: as("fail") };
}
