import { describe, expect, it } from 'vitest'
import { relayedWrites } from '../../shared/adapters/aws/dynamodb/dynamodb-stream.ts'
import { matches, wiringOf, type Resources } from './lambda/wiring.ts'
import { deployed } from './synthesized.ts'

const { queues, mappings, schedules, api } = wiringOf(deployed().template().toJSON()['Resources'] as Resources)
const feeding = (name: string) => mappings.filter((one) => one.function.includes(name))

describe('what stands between the functions of a template', () => {
  it('is a queue for each that runs reconcilers, with its dead letters behind it', () => {
    for (const name of ['SystemFunction', 'ShelvesFunction', 'LampsFunction']) {
      const [mapping, ...others] = feeding(name)
      expect(others).toEqual([])
      expect(mapping).toMatchObject({ isStream: false, reportsParts: true, filters: [] })
      const { attributes, redrive } = queues.get(mapping?.source ?? '') ?? {}
      expect(attributes).toMatchObject({ FifoQueue: 'true', FifoThroughputLimit: 'perMessageGroupId' })
      expect(redrive?.receives).toBe(10)
      expect(feeding('DeadLetters').map(({ source }) => source)).toEqual([redrive?.queue])
    }
  })

  it('names queues of dead letters ahead of those that need them', () => {
    const ids = [...queues.keys()]
    const late = [...queues].filter(([id, { redrive }]) => redrive && ids.indexOf(redrive.queue) > ids.indexOf(id))
    expect(late).toEqual([])
  })

  it('is a stream that the relay gets what it has to pass on of', () => {
    const [relay, ...others] = mappings.filter(({ isStream }) => isStream)
    expect(others).toEqual([])
    expect(relay).toMatchObject({ function: expect.stringContaining('RelayFunction'), batchSize: 100 })
    const passes = (touched: string) =>
      relay?.filters.some((filter) => matches(filter, { dynamodb: { NewImage: { touched: { S: touched } } } }))
    for (const { prefix } of relayedWrites.dynamodb.NewImage.touched.S) expect(passes(`${prefix} more`)).toBe(true)
    expect(passes('engine')).toBe(false)
  })

  it('is a clock that ticks each minute, and a gateway that asks who it is first', () => {
    expect(schedules).toEqual([{ expression: 'rate(1 minute)', function: expect.stringContaining('Resync') }])
    expect(api).toEqual({
      authorizer: expect.stringContaining('Authorizer'),
      handler: expect.stringContaining('ApiFunction'),
    })
  })
})

describe('a filter', () => {
  it.each([
    [{ a: ['x'] }, { a: 'x' }, true],
    [{ a: ['x', 'y'] }, { a: 'y' }, true],
    [{ a: ['x'] }, { a: 'z' }, false],
    [{ a: ['x'] }, {}, false],
    [{ a: { b: [{ prefix: 'p' }] } }, { a: { b: 'pq' } }, true],
    [{ a: { b: [{ prefix: 'p' }] } }, { a: { b: 'qp' } }, false],
    [{ a: { b: ['x'] } }, undefined, false],
    [{}, { a: 1 }, true],
  ])('%j: whether %j comes is %s', (pattern, event, comes) => {
    expect(matches(pattern, event)).toBe(comes)
  })

  it('of a kind that is not known here is an error', () => {
    expect(() => matches({ a: [{ suffix: 'x' }] }, { a: 'x' })).toThrow(/not known here/)
  })
})
