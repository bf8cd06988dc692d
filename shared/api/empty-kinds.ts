import type { ServedKind } from '../model/served-kind.ts'

/** Kinds that clients read though nothing of them can be here: for `kubectl cluster-info`, which lists Services, there are none. */
export const emptyKinds: readonly ServedKind[] = [
  {
    group: '',
    version: 'v1',
    storageVersion: 'v1',
    kind: 'Service',
    listKind: 'ServiceList',
    plural: 'services',
    singular: 'service',
    shortNames: ['svc'],
    categories: [],
    namespaced: true,
    schema: { type: 'object' },
    hasStatus: false,
    columns: [],
    selectableFields: [],
    builtIn: true,
  },
]
