import { describe, expect, it } from 'vitest'
import { Canary } from '../../../../shared/index.ts'

const spec = { version: 'v2', shares: [10, 50], hold: '10m', grace: '2m', tolerance: 0 }

async function problemsOf(changes: object): Promise<readonly string[]> {
  const problems = await Canary.hooks?.validate?.({ spec: { ...spec, ...changes } } as never, {} as never)
  return (problems as readonly { readonly field: string }[]).map(({ field }) => field)
}

describe('the kind of Canaries', () => {
  it('has as many shares of a hundred, and as much tolerance, as make sense', () => {
    const [version] = Canary.definition?.spec.versions ?? []
    expect(version?.schema?.openAPIV3Schema?.properties?.['spec']).toMatchObject({
      required: ['version'],
      properties: {
        shares: {
          minItems: 1,
          maxItems: 20,
          default: [10, 50],
          items: { type: 'integer', minimum: 1, maximum: 100 },
        },
        hold: { default: '10m' },
        grace: { default: '2m' },
        tolerance: { type: 'integer', minimum: 0, maximum: 100, default: 0 },
      },
    })
    expect(Canary.namespaced).toBe(false)
  })

  it.each<[object, readonly string[]]>([
    [{}, []],
    [{ hold: 'long' }, ['spec.hold']],
    [{ grace: '', hold: '1h' }, ['spec.grace']],
    [{ hold: 'x', grace: 'y' }, ['spec.hold', 'spec.grace']],
    [{ shares: [1] }, []],
    [{ shares: [10, 10] }, ['spec.shares']],
    [{ shares: [10, 20, 15] }, ['spec.shares']],
    [{ shares: [10, 5, 20], grace: 'y' }, ['spec.grace', 'spec.shares']],
  ])('%j has problems with %j', async (changes, fields) => {
    expect(await problemsOf(changes)).toEqual(fields)
  })
})
