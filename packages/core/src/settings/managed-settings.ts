import { APPROVAL_MODES } from "@burin/contract/approval-mode";
import type { JsonSchema } from "@burin/contract/messages/message";
import { choice, textList } from "@burin/contract/messages/option";
import type { ManagedSettings, Settings } from "@burin/contract/settings/settings";
import { parseLayer } from "./parse-layer.ts";

/** The administrator's settings, which only restrict. */
export interface ManagedLayer {
  /** The restrictions that can be merged as a layer of settings. */
  readonly rules: object;
  readonly managed: ManagedSettings | null;
}

interface ManagedFile extends Omit<ManagedSettings, "file"> {
  readonly permissions?: Partial<Pick<Settings["permissions"], "ask" | "deny">>;
}

/** The schema of the administrator's file. It rejects unknown keys, because one could be a misspelled restriction. */
const SCHEMA: JsonSchema = {
  title: "Burin settings of a machine",
  type: "object",
  properties: {
    $schema: { type: "string" },
    permissions: {
      type: "object",
      properties: { ask: textList(), deny: textList() },
      additionalProperties: false,
    },
    approvalModes: { type: "array", items: choice(APPROVAL_MODES), minItems: 1 },
    modelHosts: { ...textList(), minItems: 1 },
  },
  additionalProperties: false,
};

/** Throws a SettingsError. */
export function parseManaged(file: string, text: string): ManagedLayer {
  const { permissions = {}, approvalModes, modelHosts }: ManagedFile = parseLayer(file, text, SCHEMA);
  const modes = approvalModes && { approvalModes };
  const hosts = modelHosts && { modelHosts };
  return { rules: { permissions }, managed: { file, ...modes, ...hosts } };
}
