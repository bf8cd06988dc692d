/** `shared/model/schema/options.ts` is of `model`, `shared/adapters/local/queue/x.ts` of `adapters/local`. */
export function roomOf(path: string): string {
  const [, layer = '', ...rest] = path.split('/')
  return layersOfRooms.has(layer) ? `${layer}/${rest[0]}` : layer
}

const layersOfRooms: ReadonlySet<string> = new Set(['adapters', 'engine', 'runtime'])

/**
 * Whether a test file is one of the unit tests of the room that a source file is in. What an adapter promises is tested
 * by the contract of its port, and what functions of AWS do together beside them in `test/aws`.
 */
export function isNear(test: string, source: string): boolean {
  const room = roomOf(source)
  if (test.startsWith(`test/unit/${room}/`)) return true
  if (test.startsWith('test/aws/')) return room === 'runtime/aws'
  if (!test.startsWith('test/contract/')) return false
  const isOfAws = awsContract.test(test)
  return (room === 'adapters/aws' && isOfAws) || (room === 'adapters/local' && !isOfAws)
}

const awsContract = /dynamodb|sqs|fifo|aws/
