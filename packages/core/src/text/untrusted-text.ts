/**
 * Text from outside between marks that it cannot have known, so that the model can tell where it ends. `id` is a
 * random one for each text.
 */
export function markedUntrusted(text: string, source: string, id: string): string {
  const mark = `untrusted-${id}`;
  return `<${mark} source="${source.replaceAll('"', "'")}">\n${text}\n</${mark}>`;
}
