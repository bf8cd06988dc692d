import { again, defineReconciler, done, type Controller } from 'setpoint'
import { databaseClusters, StatefulSet } from './cluster.ts'

/** In the place of somebody else's: one member more, or less, is ready each second. */
export const statefulSets: Controller = defineReconciler(StatefulSet, {
  async reconcile({ spec: { replicas }, status }) {
    const before = status?.readyReplicas
    if (before === undefined) return again('1s', { status: { readyReplicas: 0 } })
    const readyReplicas = before + Math.sign(replicas - before)
    return readyReplicas === replicas ? done({ status: { readyReplicas } }) : again('1s', { status: { readyReplicas } })
  },
})

export const reconcilers: readonly Controller[] = [statefulSets, databaseClusters]
