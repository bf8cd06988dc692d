import { UnpreparedError } from '../model/conversion.ts'
import { hasCode, InvariantError } from '../model/errors.ts'
import type { ServedKind } from '../model/served-kind.ts'
import type { StoredObject } from '../model/stored-object.ts'

/** Conversions that one step may need: of a few states, to each version in which somebody owns fields, and back. */
const roundsMax = 100

/**
 * What a pure step makes of objects that somebody else may have to convert: it is made again until all of them are
 * converted. At once where nobody is asked. Throws CONVERSION_FAILED.
 */
export function awaitConversions<Made>({ conversion }: ServedKind, make: () => Made): Made | Promise<Made> {
  return conversion?.prepare === undefined ? make() : makeAgain(conversion.prepare, make)
}

async function makeAgain<Made>(
  prepare: NonNullable<NonNullable<ServedKind['conversion']>['prepare']>,
  make: () => Made,
): Promise<Made> {
  for (let round = 0; round < roundsMax; round++) {
    try {
      return make()
    } catch (error) {
      if (!(error instanceof UnpreparedError)) throw error
      await prepare([error.object], error.version)
    }
  }
  throw new InvariantError('a step needs more conversions than there can be')
}

/** Has the objects converted to the version of a kind, together, where somebody is asked. Throws CONVERSION_FAILED. */
export async function convertAhead(kind: ServedKind, stored: readonly StoredObject[]): Promise<void> {
  await kind.conversion?.prepare?.(
    stored.map(({ object }) => object),
    kind.version,
  )
}

/** The same, of which those that cannot be converted stay as they are. */
export async function convertIfPossible(kind: ServedKind, stored: readonly StoredObject[]): Promise<void> {
  try {
    await convertAhead(kind, stored)
  } catch (error) {
    // `convert` tells it to whoever shows one of them.
    if (!hasCode(error, 'CONVERSION_FAILED')) throw error
  }
}
