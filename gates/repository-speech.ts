import { posix } from "node:path";
import type { Files, Verdict } from "./repository-files.ts";

/** Text that only makes sense on one machine. Each pattern is written so that this file does not match itself. */
const PRIVATE_WORDS: readonly { readonly pattern: RegExp; readonly fault: string }[] = [
  { pattern: /(?<![\w.$}~-])\/(?:wor[k]|roo[t])\//, fault: "is a path of one machine" },
  { pattern: /(?<![\w.$}~-])\/far[m]\b/, fault: "is a path of one machine" },
  { pattern: /\bregistr[y]\.[\w-]+\.(?:org|com|net|io|dev|cn)\b/i, fault: "is a registry's host" },
];

const LISTS = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"] as const;

interface Manifest extends Partial<Record<(typeof LISTS)[number], Record<string, string>>> {
  readonly bundleDependencies?: readonly string[];
}

/** Checks that the repository does not mention the machine on which it was made, and installs the same everywhere. */
export function checkRepositorySpeech(files: Files): Verdict {
  const violations: string[] = [];
  let looked = 0;
  for (const [path, text] of files) {
    if (text.includes("\0")) continue;
    looked += 1;
    for (const [index, line] of text.split("\n").entries()) {
      for (const fault of findLineFaults(path, line)) violations.push(`${path}:${index + 1} ${fault}`);
    }
    if (posix.basename(path) !== "package.json") continue;
    for (const { name, fault } of findManifestFaults(path, JSON.parse(text))) {
      const line = text.slice(0, Math.max(0, text.indexOf(`"${name}"`))).split("\n").length;
      violations.push(`${path}:${line} ${fault}`);
    }
  }
  return { looked, violations };
}

function findLineFaults(path: string, line: string): string[] {
  const faults: string[] = [];
  for (const { pattern, fault } of PRIVATE_WORDS) {
    const found = pattern.exec(line)?.[0];
    if (found !== undefined) faults.push(`"${found}" ${fault}`);
  }
  const name = posix.basename(path);
  if (name === "package-lock.json" && /"resolved":\s*"https?:/.test(line)) {
    faults.push(
      "a resolved URL ties the lockfile to one registry: leave it out (omit-lockfile-registry-resolved)",
    );
  }
  if (name === ".npmrc" && /^\s*(?:@[\w.-]+:)?registry\s*=/.test(line)) {
    faults.push("the registry is the business of each machine");
  }
  return faults;
}

interface ManifestFault {
  readonly name: string;
  readonly fault: string;
}

function findManifestFaults(path: string, manifest: Manifest): ManifestFault[] {
  const faults: ManifestFault[] = [];
  for (const list of LISTS) {
    for (const [name, version] of Object.entries(manifest[list] ?? {})) {
      const isExact = /^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version);
      if (!isExact) faults.push({ name, fault: `${name} "${version}" in ${list} is not an exact version` });
    }
  }
  if (!/^packages\/(?:core|cli)\/package\.json$/.test(path)) return faults;
  const installed = [
    ...Object.keys(manifest.dependencies ?? {}),
    ...Object.keys(manifest.peerDependencies ?? {}),
    ...(manifest.bundleDependencies ?? []),
  ];
  for (const name of installed) {
    faults.push({ name, fault: `${name} would be installed with the package: bundle it (devDependencies)` });
  }
  return faults;
}
