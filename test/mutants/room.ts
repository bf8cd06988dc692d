/** `shared/model/schema/options.ts` is of `model`, `shared/adapters/local/queue/x.ts` of `adapters/local`. */
export function roomOf(path: string): string {
  const [, layer = '', ...rest] = path.split('/')
  return layer === 'adapters' || layer === 'engine' ? `${layer}/${rest[0]}` : layer
}

/** Whether a test file is one of the unit tests of the room that a source file is in. */
export function isNear(test: string, source: string): boolean {
  return test.startsWith(`test/unit/${roomOf(source)}/`)
}
