import { expect, it } from 'vitest'
import { metrics, type Metric } from '../../../shared/model/metrics.ts'

/** Dashboards and alerts ask for these bounds by their numbers. */
it('the bounds of each histogram are those that people ask for', () => {
  const all = Object.values(metrics) as readonly Metric[]
  const bounds = all.filter(({ type }) => type === 'histogram').map(({ name, buckets }) => [name, buckets?.join(' ')])
  const runs = '0.005 0.01 0.025 0.05 0.1 0.25 0.5 1 2.5 5 10 30 60 300'
  expect(Object.fromEntries(bounds)).toEqual({
    controller_runtime_reconcile_time_seconds: runs,
    workqueue_queue_duration_seconds: '0.001 0.005 0.01 0.05 0.1 0.5 1 5 10 60 300 1000',
    workqueue_work_duration_seconds: runs,
    setpoint_time_to_converge_seconds: '0.01 0.05 0.1 0.5 1 5 10 30 60 300 900 3600',
    apiserver_request_duration_seconds: '0.005 0.025 0.05 0.1 0.25 0.5 1 2.5 5 10 30 60',
  })
  expect(all.filter(({ buckets }) => buckets !== undefined)).toHaveLength(bounds.length)
})
