/** A module as Vitest keeps it: without a promise it is loaded when it is next imported. */
interface Kept {
  promise?: Promise<unknown> | undefined;
}
interface Worker {
  readonly evaluatedModules: { readonly idToModuleMap: ReadonlyMap<string, Kept> };
}

/**
 * When a file of tests ends, Vitest breaks off what is just being loaded, such as the code that a toolbox loads ahead.
 * In the files that share the process with it, that module could never be imported.
 */
export async function forgetBrokenLoads(): Promise<void> {
  const { __vitest_worker__: worker } = globalThis as unknown as { __vitest_worker__: Worker };
  for (const module of worker.evaluatedModules.idToModuleMap.values()) {
    // One that is still being loaded is not broken.
    const loaded = Promise.race([module.promise, null]);
    await loaded.catch(() => {
      module.promise = undefined;
    });
  }
}

await forgetBrokenLoads();
