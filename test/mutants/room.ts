/** `shared/model/schema/options.ts` is of `model`, `shared/adapters/local/queue/x.ts` of `adapters/local`. */
export function roomOf(path: string): string {
  const [, layer = '', ...rest] = path.split('/')
  return layer === 'adapters' || layer === 'engine' ? `${layer}/${rest[0]}` : layer
}

/**
 * Whether a test file is one of the unit tests of the room that a source file is in. What an adapter of one machine
 * promises is tested by the contract of its port.
 */
export function isNear(test: string, source: string): boolean {
  const room = roomOf(source)
  return test.startsWith(`test/unit/${room}/`) || (room === 'adapters/local' && localContract.test(test))
}

const localContract = /^test\/contract\/(?!.*(?:dynamodb|sqs|fifo|aws))/
