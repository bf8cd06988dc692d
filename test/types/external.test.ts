import { describe, expect, expectTypeOf, it } from 'vitest'
import {
  defineExternal,
  mayRequire,
  requires,
  Secret,
  type ExternalApi,
  type SecretObject,
} from '../../shared/index.ts'
import { Part, Widget } from '../acceptance/support/primary.ts'

const api: ExternalApi<string> = {
  get: async () => ({}),
  create: async () => ({}),
  update: async () => ({}),
  delete: async () => {},
  idOf: () => '',
}

describe('the types of an external reconciler', () => {
  it('know the objects that are required, the client and the spec', () => {
    const widgets = defineExternal(Widget, {
      references: {
        SecretRef: requires(Secret, ({ spec }: Widget) => ({ name: spec.color ?? '' })),
        PartRef: mayRequire(Part, ({ spec }: Widget) => (spec.color === undefined ? undefined : { name: spec.color })),
      },
      connect: async ({ spec }, { refs }) => {
        expectTypeOf(spec.size).toEqualTypeOf<number>()
        expectTypeOf(refs.SecretRef).toEqualTypeOf<SecretObject>()
        expectTypeOf(refs.PartRef).toEqualTypeOf<Part | undefined>()
        return 'client'
      },
      declared: ({ spec }, { client, refs }) => {
        expectTypeOf(client).toEqualTypeOf<string>()
        return { size: spec.size, part: refs.PartRef?.metadata.name }
      },
      api,
      shown: ({ size }) => ({ size: Number(size) }),
    })
    expect(widgets.references.map(({ kind }) => kind.kind)).toEqual(['Secret', 'Part'])
    expect(widgets.finalizer).toBe('test.setpoint.dev/widget')
  })

  it('refuse a status that is not of the kind, and a reference from another kind', () => {
    const common = { connect: async () => 'client', declared: () => ({}), api }
    defineExternal(Widget, {
      ...common,
      // @ts-expect-error -- the status of a widget has no `url`
      shown: () => ({ url: 'x' }),
    })
    defineExternal(Widget, {
      ...common,
      references: {
        // @ts-expect-error -- a widget has no `of`
        SecretRef: requires(Secret, ({ spec }: Part) => ({ name: spec.of ?? '' })),
      },
    })
    expect(() => defineExternal(Widget, { ...common, concurrency: 0 })).toThrow(TypeError)
  })
})
