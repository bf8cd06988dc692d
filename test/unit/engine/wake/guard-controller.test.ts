import { describe, expect, it } from 'vitest'
import { guardController } from '../../../../shared/engine/wake/guard-controller.ts'
import { ConfigMap, done, mapped, owned, reference } from '../../../../shared/index.ts'
import type { Change } from '../../../../shared/ports/change-feed.ts'
import { widgets } from '../../../acceptance/support/widgets.ts'
import { storedWidget } from '../../../support/stored-object.ts'

const { object } = storedWidget('w')
const seen = { type: 'modified', touched: ['spec'], object } as unknown as Change & { readonly object: typeof object }

function guarded(work: () => never | boolean) {
  const lines: unknown[] = []
  const logger = {
    debug: () => {},
    info: () => {},
    warn: () => {},
    error: (...line: unknown[]) => void lines.push(line),
    with: () => logger,
  }
  const find = () => {
    work()
    return { name: 'found' }
  }
  const controller = widgets([], () => done(), {
    when: work,
    owns: [owned(ConfigMap, { when: work })],
    watches: [reference(ConfigMap, find, { when: work }), mapped(ConfigMap, find, { when: work })],
  })
  return { controller: guardController(controller, logger), lines }
}

describe("a controller's functions that the relay calls", () => {
  const { controller, lines } = guarded(() => {
    throw new Error('a bug')
  })
  const { owns, references, maps } = controller
  it.each([
    ['a predicate', 'its own', () => controller.when(seen), true],
    ['a predicate', 'of what it owns', () => owns[0]?.when(seen), true],
    ['a predicate', 'of what it refers to', () => references[0]?.when(seen), true],
    ['a predicate', 'of what maps', () => maps[0]?.when(seen), true],
    ['a reference', 'its own', () => references[0]?.targets(object), []],
    ['a map function', 'its own', () => maps[0]?.primaries(object), []],
  ])('%s (%s) that throws is told of, and stops nobody', (what, _whose, call, result) => {
    lines.length = 0
    expect(call()).toEqual(result)
    expect(lines).toEqual([[`${what} threw`, { controller: 'widget', error: 'Error: a bug' }]])
  })

  it('tell no value of a Secret that they were given', () => {
    const config = Buffer.from('hunter2-pass').toString('base64')
    const secret = { ...object, apiVersion: 'v1', kind: 'Secret', data: { config } }
    const parse = (): never => JSON.parse(Buffer.from(config, 'base64').toString()) as never
    const { controller: careless, lines: told } = guarded(parse)
    careless.maps[0]?.primaries(secret)
    careless.references[0]?.when({ type: 'modified', touched: ['meta'], object: secret })
    expect(told).toHaveLength(2)
    expect(JSON.stringify(told)).toContain('***')
    expect(JSON.stringify(told)).not.toContain('hunter2')
  })

  it.each([
    ['null', null],
    ['like a Secret', { apiVersion: 'v1', kind: 'Secret' }],
  ])('hold up nobody for an object that has a field `object` which is %s', (_what, field) => {
    expect(maps[0]?.primaries(Object.assign({ ...object }, { object: field }))).toEqual([])
  })

  it('hold up nobody if what they throw has no text', () => {
    const { controller: odd, lines: told } = guarded(() => {
      throw Object.create(null)
    })
    expect(odd.maps[0]?.primaries(object)).toEqual([])
    expect(told).toEqual([['a map function threw', { controller: 'widget', error: '{}' }]])
    const { controller: worse, lines: said } = guarded(() => {
      throw Object.defineProperty(new Error('x'), 'message', { get: () => Symbol('no text') })
    })
    expect(worse.maps[0]?.primaries(object)).toEqual([])
    expect(said).toEqual([['a map function threw', { controller: 'widget', error: 'an error without a text' }]])
  })

  it('say what they say where they do not throw', () => {
    const { controller: calm, lines: told } = guarded(() => false)
    expect([calm.when(seen), calm.owns[0]?.when(seen)]).toEqual([false, false])
    expect(calm.references[0]?.targets(object)).toHaveLength(1)
    expect(calm.maps[0]?.primaries(object)).toHaveLength(1)
    expect(told).toEqual([])
  })
})
