import { APPROVAL_MODES } from "@burin/contract/approval-mode";
import type { JsonSchema } from "@burin/contract/messages/message";
import { choice, texts } from "@burin/contract/messages/option";
import type { ManagedSettings, Settings } from "@burin/contract/settings/settings";
import { parseLayer } from "./parse-layer.ts";

/** What the administrator of this machine has decided: it only restricts. */
export interface ManagedLayer {
  /** A layer of settings. */
  readonly rules: object;
  readonly managed: ManagedSettings | null;
}

interface ManagedFile extends Omit<ManagedSettings, "file"> {
  readonly permissions?: Partial<Pick<Settings["permissions"], "ask" | "deny">>;
}

/** An unknown key could be a misspelled restriction, so it is refused. */
const SCHEMA: JsonSchema = {
  title: "Burin settings of a machine",
  type: "object",
  properties: {
    $schema: { type: "string" },
    permissions: { type: "object", properties: { ask: texts(), deny: texts() }, additionalProperties: false },
    approvalModes: { type: "array", items: choice(APPROVAL_MODES), minItems: 1 },
    modelHosts: { ...texts(), minItems: 1 },
  },
  additionalProperties: false,
};

/** Throws SettingsError. */
export function parseManaged(file: string, text: string): ManagedLayer {
  const { permissions = {}, approvalModes, modelHosts }: ManagedFile = parseLayer(file, text, SCHEMA);
  const modes = approvalModes && { approvalModes };
  const hosts = modelHosts && { modelHosts };
  return { rules: { permissions }, managed: { file, ...modes, ...hosts } };
}
