import * as z from 'zod'
import { canaries, defineKind, defineReconciler, done, type Controller } from 'setpoint'

export const Banner = defineKind({
  group: 'example.dev',
  version: 'v1',
  kind: 'Banner',
  spec: z.object({ text: z.string() }),
  status: z.object({ shown: z.string() }),
})

export const banners: Controller = defineReconciler(Banner, {
  async reconcile({ spec }) {
    return done({ status: { shown: spec.text } })
  },
  canary: {
    version: 'loud',
    async reconcile({ spec }) {
      return done({ status: { shown: spec.text.toUpperCase() } })
    },
  },
})

export const reconcilers: readonly Controller[] = [banners, canaries([banners])]
