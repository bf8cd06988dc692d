/** What must hold for any configurations, of any managers, in any order. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { noFields } from '../../../../shared/model/apply/fields/field-set.ts'
import { mapIn } from '../../../../shared/model/apply/json-parts.ts'
import { compare } from '../../../../shared/model/apply/typed/compare.ts'
import { mergeTypeOf } from '../../../../shared/model/apply/typed/merge-type.ts'
import { merge } from '../../../../shared/model/apply/typed/merge.ts'
import type { JsonObject } from '../../../../shared/model/json.ts'
import { applied, later, ownership, tryApply, update, widget, widgetSchema, withSpec } from './widget.ts'
import { share } from '../../../support/strength.ts'

const managers = ['alice', 'bob', 'carol'] as const
type Name = (typeof managers)[number]

const text = fc.constantFrom('x', 'y', 'z')
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { freq: 2, nil: undefined })
const port = fc.record({ name: text, protocol: optional(fc.constantFrom('TCP', 'UDP')), port: optional(fc.nat(2)) })
const identity = ({ name, protocol = 'TCP' }: { name: string; protocol?: string | undefined }) => `${name}/${protocol}`
const leaf = fc.oneof(fc.nat(2), text, fc.array(text, { maxLength: 2 }))
const free = fc.dictionary(text, fc.oneof(leaf, fc.dictionary(text, leaf, { minKeys: 1 })), { minKeys: 1 })

/**
 * Neither null nor empty maps, and free data is a map wherever it stands: there Kubernetes' rules have gaps. Whoever
 * owns keys of a map does not conflict with who makes it a scalar, and a map emptied by one manager is null for the
 * other.
 */
const fields = fc.record({
  size: optional(fc.nat(2)),
  colour: optional(text),
  retention: optional(fc.oneof(fc.record({ days: fc.nat(2) }), fc.record({ days: fc.nat(2), policy: text }))),
  arguments: optional(fc.array(text, { maxLength: 3 })),
  tags: optional(fc.uniqueArray(text, { minLength: 1 })),
  ports: optional(fc.uniqueArray(port, { selector: identity, minLength: 1 })),
  free: optional(fc.record({ x: optional(leaf), y: optional(free), z: free })),
})

interface Step {
  readonly manager: Name
  readonly config: JsonObject
}

/** Each manager has an option of its own, so that no configuration is empty. */
const step: fc.Arbitrary<Step> = fc.tuple(fc.constantFrom(...managers), fields).map(([manager, given]) => {
  const spec = JSON.parse(JSON.stringify({ ...given, options: { [manager]: 'x' } })) as JsonObject
  return { manager, config: widget(spec) }
})
const history = fc.array(step, { minLength: 1, maxLength: 6 })
const type = mergeTypeOf(widgetSchema)

const { spec: _, ...nothing } = widget({})

/** Everybody applies in turn; who would conflict does not. Also says who wants what in the end. */
function played(steps: readonly Step[]): { object: JsonObject; wants: Map<Name, JsonObject> } {
  let object = applied(undefined, nothing)
  const wants = new Map<Name, JsonObject>()
  for (const { manager, config } of steps) {
    const result = tryApply(object, config, { manager })
    if (result.outcome !== 'applied') continue
    object = result.object
    wants.set(manager, config)
  }
  return { object, wants }
}

describe('after any applies without force', () => {
  it('everybody has what they want, but for the order of sets', () => {
    const holds = (steps: readonly Step[]) => {
      const { object, wants } = played(steps)
      for (const want of wants.values()) {
        const changes = compare(object, mapIn(merge(object, want, type)), type)
        expect(changes).toEqual({ written: noFields, removed: noFields })
      }
    }
    fc.assert(fc.property(history, holds), { numRuns: share(300) })
  })

  it('one more takes no field from another', () => {
    const holds = (steps: readonly Step[], { manager, config }: Step) => {
      const { object } = played(steps)
      const result = tryApply(object, config, { manager })
      fc.pre(result.outcome === 'applied')
      if (result.outcome !== 'applied') return
      const { [manager]: _mine, ...before } = ownership(object)
      const { [manager]: _own, ...after } = ownership(result.object)
      expect(after).toEqual(before)
    }
    fc.assert(fc.property(history, step, holds), { numRuns: share(300) })
  })

  it('nothing is left when nobody wants anything any more', () => {
    const holds = (steps: readonly Step[]) => {
      const { object, wants } = played(steps)
      const end = [...wants.keys()].reduce((live, manager) => applied(live, nothing, { manager }), object)
      expect(end).toEqual(nothing)
    }
    fc.assert(fc.property(history, holds), { numRuns: share(300) })
  })
})

describe('whatever was written before', () => {
  const writes = fc.array(fc.tuple(step, fc.boolean()), { minLength: 1, maxLength: 6 })

  it('applying the same twice changes nothing the second time', () => {
    const holds = (before: readonly (readonly [Step, boolean])[], { manager, config }: Step) => {
      const live = before.reduce<JsonObject>(write, nothing)
      const once = applied(live, config, { manager, force: true })
      const twice = tryApply(once, config, { manager, at: later })
      expect(twice).toEqual({ outcome: 'applied', object: once, changed: false })
    }
    fc.assert(fc.property(writes, step, holds), { numRuns: share(300) })
  })

  it('an update that changes nothing leaves no trace', () => {
    const holds = (before: readonly (readonly [Step, boolean])[]) => {
      const live = before.reduce<JsonObject>(write, applied(undefined, nothing))
      expect(update(live, structuredClone(live), { at: later })).toEqual({ object: live, changed: false })
    }
    fc.assert(fc.property(writes, holds), { numRuns: share(300) })
  })

  function write(live: JsonObject, [{ manager, config }, isApply]: readonly [Step, boolean]): JsonObject {
    return isApply
      ? applied(live, config, { manager, force: true })
      : update(live, withSpec(live, config['spec'] ?? {}), { manager }).object
  }
})
