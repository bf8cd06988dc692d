import { beforeAll, describe, expect, it } from 'vitest'
import { findKubectls, noKubectl } from '../support/kubectl.ts'
import { widgetSession } from './widget-session.ts'
import { widget } from './widgets.ts'

const [newest] = await findKubectls()

const event = `
apiVersion: events.k8s.io/v1
kind: Event
metadata: { name: painted.1, namespace: default }
eventTime: '2026-11-22T10:20:30.123456Z'
reportingController: example.com/painter
reportingInstance: painter-1
action: Paint
reason: Painted
regarding: { apiVersion: test.setpoint.dev/v1, kind: Widget, namespace: default, name: house }
note: the house is red now
type: Normal
`
const lease = `
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: { name: painter }
spec: { holderIdentity: painter-1, leaseDurationSeconds: 15, renewTime: '2026-11-22T10:20:30.123456Z' }
`

describe.skipIf(newest === undefined)(
  'kubectl and the kinds that clients need',
  { meta: { skipped: noKubectl }, concurrent: true },
  () => {
    const { kubectl } = widgetSession(newest)
    beforeAll(async () => {
      await kubectl.ok('create -f -', { input: event })
      await kubectl.apply(lease)
    })

    it.each([
      'get events --field-selector involvedObject.name=house',
      'get events.events.k8s.io --field-selector regarding.name=house',
      'events --for widget/house',
    ])('shows an event: %s', async (line) => {
      expect(await kubectl.ok(line)).toMatch(/Normal +Painted +Widget\/house +the house is red now|widget\/house/i)
    })

    it('watches events in both groups', async () => {
      for (const kind of ['events', 'events.events.k8s.io']) {
        await using watch = await kubectl.start(`get ${kind} --field-selector metadata.name=painted.1 -w -o name`)
        expect(await watch.says(/painted\.1/)).not.toBeNull()
      }
    })

    it('shows who leads', async () => {
      expect(await kubectl.ok('get leases')).toMatch(/^NAME +HOLDER +AGE\npainter +painter-1 /)
      await kubectl.ok(`patch lease painter --type=merge -p '{"spec":{"holderIdentity":"painter-2"}}'`)
      expect(await kubectl.ok('get lease painter -o jsonpath={.spec.holderIdentity}')).toBe('painter-2')
    })

    it('scales', async () => {
      await kubectl.apply(widget('scaled'))
      await kubectl.ok('scale wd scaled --replicas=3')
      expect(await kubectl.ok('get wd scaled -o jsonpath={.spec.replicas}')).toBe('3')
      await kubectl.ok('scale wd scaled --current-replicas=3 --replicas=4')
      expect(await kubectl.fails('scale wd scaled --current-replicas=3 --replicas=5')).toContain(
        'Expected replicas to be 3, was 4',
      )
      expect(await kubectl.ok('get wd scaled --subresource=scale -o jsonpath={.spec.replicas}')).toBe('4')
    })

    it('prunes what a manifest no longer has', async () => {
      const map = (name: string): string =>
        `{apiVersion: v1, kind: ConfigMap, metadata: {name: ${name}, labels: {set: pruned}}}\n---\n`
      await kubectl.apply(map('kept') + map('dropped'))
      const pruned = await kubectl.ok('apply --prune -l set=pruned -f -', { input: map('kept') })
      expect(pruned).toContain('configmap/dropped pruned')
      expect(await kubectl.ok('get cm -l set=pruned -o name')).toBe('configmap/kept\n')
    })

    it('finds none of what only a cluster has', async () => {
      for (const kind of ['pods', 'nodes', 'deployments', 'endpoints', 'ingresses'])
        expect(await kubectl.run(`get ${kind} -A`)).toMatchObject({ code: 0, stderr: 'No resources found\n' })
      expect(await kubectl.run('get all')).toMatchObject({ code: 0 })
    })

    it('finds what is served, each by this API itself', async () => {
      const said = await kubectl.ok('get apiservices')
      expect(said).toMatch(/^NAME +SERVICE +AVAILABLE\n/)
      expect(said).toMatch(/^v1\. +Local +True$/m)
      expect(said).toMatch(/^v1\.test\.setpoint\.dev +Local +True$/m)
      expect(await kubectl.ok('get apiservice v1.apps -o name')).toBe('apiservice.apiregistration.k8s.io/v1.apps\n')
    })

    it('explains both groups', async () => {
      expect(await kubectl.ok('explain lease.spec')).toContain('holderIdentity')
      expect(await kubectl.ok('explain event --api-version=events.k8s.io/v1')).toContain('regarding')
    })
  },
)
