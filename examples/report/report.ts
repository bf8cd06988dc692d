import * as z from 'zod'
import { defineKind, defineReconciler, done, expectation, waiting, type Controller, type ObjectOf } from 'setpoint'

/** Somebody else's reconciler runs jobs and says when one has ended. */
export const Job = defineKind({
  group: 'example.dev',
  version: 'v1',
  kind: 'Job',
  spec: z.object({ query: z.string() }),
  status: z.object({ result: z.string() }).partial(),
})

export const Report = defineKind({
  group: 'example.dev',
  version: 'v1',
  kind: 'Report',
  spec: z.object({ query: z.string() }),
  status: z.object({ text: z.string() }),
})
type Report = ObjectOf<typeof Report>

const jobEnded = expectation<Report>('JobEnded', {
  within: '10m',
  met: async ({ metadata: { name } }, ctx) => (await ctx.get(Job, name))?.status?.result !== undefined,
})

export const reports: Controller = defineReconciler(Report, {
  owns: [Job],
  async reconcile(report, ctx) {
    const { name } = report.metadata
    const job = await ctx.apply(Job, { metadata: { name }, spec: { query: report.spec.query } })
    if (job.status?.result === undefined && !ctx.expectations.has(jobEnded.name)) jobEnded.set(ctx)
    if ((await jobEnded.check(report, ctx)) === 'timedOut')
      return done({ ready: waiting('JobLate', 'no result in 10 min') })
    if (job.status?.result === undefined) return done({ ready: waiting('JobRunning', 'the job has no result yet') })
    return done({ status: { text: job.status.result } })
  },
})
