import { defineBuiltInKind, type ServedKind } from '../model/served-kind.ts'

/**
 * Kinds that clients read though nothing of them can be here: for `kubectl cluster-info`, which lists Services, there
 * are none.
 */
export const emptyKinds: readonly ServedKind[] = [
  defineBuiltInKind({
    group: '',
    kind: 'Service',
    plural: 'services',
    shortNames: ['svc'],
    namespaced: true,
    schema: { type: 'object' },
  }),
]
