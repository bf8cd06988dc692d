import { describe, expect, expectTypeOf, it } from 'vitest'
import { ConfigMap, workflow, type ConfigMapObject } from '../../shared/index.ts'
import { Part, Widget } from '../acceptance/support/primary.ts'

describe('the types of a workflow', () => {
  it('know the objects of each node', () => {
    const nodes = workflow(Widget, {
      config: {
        kind: ConfigMap,
        desired: ({ spec }) => ({ metadata: { name: 'c' }, data: { size: String(spec.size) } }),
      },
      parts: { kind: Part, dependsOn: ['config'], desired: () => [], readyWhen: ({ status }) => status?.done === true },
    })
    type Result = Awaited<ReturnType<typeof nodes.run>>
    expectTypeOf<Result['objects']['config']>().toEqualTypeOf<readonly ConfigMapObject[]>()
    expectTypeOf<Result['objects']['parts']>().toEqualTypeOf<readonly Part[]>()
    expectTypeOf<keyof Result['states']>().toEqualTypeOf<'config' | 'parts'>()
    expect(nodes.owns).toEqual([ConfigMap, Part])
  })

  it('refuse a node that is not there', () => {
    expect(() =>
      workflow(Widget, {
        // @ts-expect-error -- there is no node `config`
        parts: { kind: Part, dependsOn: ['config'], desired: () => [] },
      }),
    ).toThrow(TypeError)
  })

  it('refuse a body that is not of its kind', () => {
    workflow(Widget, {
      // @ts-expect-error -- the data of a ConfigMap are texts
      config: { kind: ConfigMap, desired: () => ({ metadata: { name: 'c' }, data: { size: 1 } }) },
    })
    expect(() => workflow(Widget, { 'not a label!': { kind: Part, desired: () => [] } })).toThrow(TypeError)
  })
})
