import { digest } from '../../model/digest.ts'
import { refuseForeign } from '../../model/foreign-part.ts'
import { copyJson, type Json } from '../../model/json.ts'
import { canonicalJson } from '../../model/schema/canonical-json.ts'
import { withMemory, type OnceRecord } from '../../model/engine-state.ts'
import type { Effect, Once, OnceOptions } from '../../reconciler/once.ts'
import type { RunMemory } from './run-memory.ts'
import type { RunTime } from './run-times.ts'

const keysMax = 32
const resultLengthMax = 4_096

/** Effects recorded with the object: before they begin, and with their result when they have ended. */
export function createOnce({ live, remember }: RunMemory, time: RunTime): Once {
  const note = (key: string, record: OnceRecord): Promise<void> =>
    remember((engine) => {
      const once = engine.memory?.once ?? {}
      // Those that begin at once come here one after the other.
      if (record.state === 'begun' && once[key] === undefined) checkRoom(once)
      return withMemory(engine, { ...engine.memory, once: { ...once, [key]: record } })
    })

  const perform = async <Result extends Json | void>(
    key: string,
    effect: (effect: Effect) => Promise<Result>,
    { of = null }: OnceOptions,
  ): Promise<Result> => {
    time.throwIfOver()
    // Another effect could be taken for this one.
    refuseForeign(of, `the option "of" of ${key}`, 'once')
    const { object, engine } = live()
    const about = digest(canonicalJson(of))
    const known = engine.memory?.once?.[key]
    const isKnown = known?.of === about
    if (isKnown && known.state === 'done') return copyJson(known.result) as Result
    if (!isKnown) await note(key, { of: about, state: 'begun' })
    const result = await effect({ token: `${object.metadata.uid}.${digest(key)}.${about}`, mayHaveHappened: isKnown })
    // Also if the run's time is over by now: what has happened has happened.
    await note(key, { of: about, state: 'done', ...resultField(key, result) })
    return result
  }

  const underWay = new Map<string, Promise<unknown>>()
  // Of one key one after the other: the second call is given what the first has returned.
  return (key, effect, options = {}) => {
    const before = underWay.get(key)
    const performed =
      before === undefined
        ? perform(key, effect, options)
        : before.catch(() => {}).then(() => perform(key, effect, options))
    underWay.set(key, performed)
    return performed
  }
}

function checkRoom(once: { readonly [key: string]: OnceRecord }): void {
  if (Object.keys(once).length >= keysMax)
    throw new TypeError(`once: an object remembers ${keysMax} keys at most; tell effects of one kind apart by \`of\``)
}

function resultField(key: string, result: Json | void): Pick<OnceRecord, 'result'> {
  if (result === undefined) return {}
  // A retry would be given something else than what the effect has returned.
  refuseForeign(result, `the result of ${key}`, 'once')
  if (JSON.stringify(result).length <= resultLengthMax) return { result: copyJson(result) }
  throw new TypeError(
    `once: the result of ${key} is longer than ${resultLengthMax} characters; return what identifies it`,
  )
}
