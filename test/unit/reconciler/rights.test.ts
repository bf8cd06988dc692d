import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import {
  ConfigMap,
  defineKind,
  defineReconciler,
  done,
  mapped,
  Namespace,
  reference,
  Secret,
} from '../../../shared/index.ts'
import { requireRight, type Access, type Grant } from '../../../shared/reconciler/rights.ts'

const kind = (name: string) =>
  defineKind({ group: 'test.dev', version: 'v1', kind: name, spec: z.object({ of: z.string() }) })
const [Own, Child, Referred, Mapped, Stranger] = ['Own', 'Child', 'Referred', 'Mapped', 'Stranger'].map(kind) as [
  ReturnType<typeof kind>,
  ReturnType<typeof kind>,
  ReturnType<typeof kind>,
  ReturnType<typeof kind>,
  ReturnType<typeof kind>,
]

function allowed(grants: readonly Grant[] | undefined, on: Grant['kind'], access: Access): boolean {
  const { rights } = defineReconciler(Own, {
    name: 'own',
    owns: [Child],
    watches: [
      reference(Referred, ({ spec }) => ({ name: spec.of })),
      mapped(Mapped, ({ spec }) => ({ name: spec.of })),
    ],
    ...(grants && { grants }),
    reconcile: async () => done(),
  })
  try {
    requireRight(rights, { reconciler: 'own', kind: on, access })
    return true
  } catch {
    return false
  }
}

describe('a reconciler', () => {
  it.each<[string, Grant['kind'], readonly Grant[] | undefined, readonly [read: boolean, write: boolean]]>([
    ['its own kind', Own, [], [true, true]],
    ['what it owns', Child, [], [true, true]],
    ['what it refers to', Referred, [], [true, false]],
    ['what is mapped to it', Mapped, [], [true, false]],
    ['what it declares nowhere', Stranger, [], [false, false]],
    ['what it declares nowhere, without grants', Stranger, undefined, [false, false]],
    ['what is built in', Secret, [], [false, false]],
    ['what it may read', Secret, [{ kind: Secret, access: 'read' }], [true, false]],
    ['what it may write', Secret, [{ kind: Secret, access: 'write' }], [true, true]],
    ['what it watches and may write', Referred, [{ kind: Referred, access: 'write' }], [true, true]],
    ['what it watches and may read', Referred, [{ kind: Referred, access: 'read' }], [true, false]],
    ['what it owns and may read', Child, [{ kind: Child, access: 'read' }], [true, true]],
    [
      'what it was granted twice',
      Namespace,
      [
        { kind: Namespace, access: 'write' },
        { kind: Namespace, access: 'read' },
      ],
      [true, true],
    ],
    ['a namesake of another group', { ...Child, group: 'other.dev' }, [], [false, false]],
  ])('may read and write %s as declared', (_, on, grants, [read, write]) => {
    expect([allowed(grants, on, 'read'), allowed(grants, on, 'write')]).toEqual([read, write])
  })

  it('is told what declaration is missing, as it is typed', () => {
    const { rights } = defineReconciler(Own, { reconcile: async () => done() })
    const ask = (access: Access) => () => requireRight(rights, { reconciler: 'own', kind: ConfigMap, access })
    expect(ask('write')).toThrow(
      "the reconciler own may not write ConfigMap (core), which it does not declare: add grants: [{ kind: ConfigMap, access: 'write' }] to its definition, or ConfigMap to its owns",
    )
    expect(ask('read')).toThrow("access: 'read' }] to its definition, or ConfigMap to its owns or watches")
    expect(ask('write')).toThrow(/to its owns$/)
    expect(ask('read')).toThrow(expect.objectContaining({ code: 'FORBIDDEN' }))
  })
})
