/**
 * The default settings. They are separate from the schema, because a start without settings files needs only the
 * defaults.
 */
export const DEFAULT_SETTINGS = {
  model: {},
  models: {},
  permissions: { allow: [], ask: [], deny: [] },
  context: { fileNames: [], environment: true },
  loop: { detection: true },
  files: { ignoreFileNames: [], ignore: [] },
  workTrees: { copy: [".env*"] },
  sandbox: { mode: "workspace-write", network: false, hide: [], discovered: false },
  shell: { passEnvironment: [] },
  web: { allowedHosts: [] },
  telemetry: { contents: false },
  ui: {},
  tools: {
    include: [],
    exclude: [],
    svgAsText: false,
    editCorrection: true,
    schemaBudget: 8192,
    toolDiscoverySeconds: 30,
    toolCallSeconds: 600,
  },
} as const;

export const DEFAULT_SERVER = {
  args: [],
  env: {},
  headers: {},
  trust: false,
  includeTools: [],
  excludeTools: [],
  sandbox: false,
} as const;
