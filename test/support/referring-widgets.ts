import { ConfigMap, defineReconciler, done, reference, type ApiObject, type Kind } from '../../shared/index.ts'
import { widgetKind } from './stored-object.ts'

/** Widgets without a schema. */
export const widgets = { ...widgetKind, version: 'v1', plural: 'widgets', namespaced: true } as unknown as Kind<
  ApiObject,
  ApiObject
>

/** A Widget refers to the ConfigMaps that its status names under `uses`. */
export const refersByStatus = defineReconciler(widgets, {
  watches: [reference(ConfigMap, ({ status }) => usedBy(status).map((name) => ({ name })))],
  reconcile: async () => done(),
})

function usedBy(status: ApiObject['status'] = {}): readonly string[] {
  return (status['uses'] ?? []) as readonly string[]
}
