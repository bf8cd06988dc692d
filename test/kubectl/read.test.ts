import { beforeAll, describe, expect, it } from 'vitest'
import { findKubectls, noKubectl } from '../support/kubectl.ts'
import { widgetSession } from './widget-session.ts'
import { manifests, widget } from './widgets.ts'
import { longOnly } from '../support/strength.ts'

const [newest] = await findKubectls()

describe.skipIf(newest === undefined)('kubectl reads', { meta: { skipped: noKubectl }, concurrent: true }, () => {
  const { kubectl } = widgetSession(newest)
  beforeAll(async () => {
    await kubectl.apply(
      manifests(
        '{apiVersion: v1, kind: Namespace, metadata: {name: other}}\n',
        widget('red', { spec: '{size: 3, color: red, tags: [a, b]}', labels: '{tier: front, app: shop}' }),
        widget('green', { spec: '{size: 1, color: green}', labels: '{tier: back}' }),
        widget('blue', { spec: '{size: 2, color: blue}' }),
        widget('far', { spec: '{size: 9}', namespace: 'other' }),
      ),
    )
  })

  const lines = async (line: string): Promise<readonly string[]> => (await kubectl.ok(line)).trimEnd().split('\n')

  describe('the server', () => {
    it('tells its version', async () => {
      const told = await kubectl.run('version')
      expect(told).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Server Version: v1\.\d+\.\d+/m) })
      expect(told.stderr).not.toContain('could not parse')
    })

    it('tells where it is', longOnly, async () => {
      expect(await kubectl.ok('cluster-info')).toMatch(/Kubernetes control plane.* is running at .*https:/)
      expect(await kubectl.run('get services')).toMatchObject({
        code: 0,
        stderr: 'No resources found in default namespace.\n',
      })
    })

    it('lists what it serves', async () => {
      const listed = await kubectl.ok('api-resources')
      for (const row of [
        /^namespaces +ns +v1 +false +Namespace$/m,
        /^configmaps +cm +v1 +true +ConfigMap$/m,
        /^secrets +v1 +true +Secret$/m,
        /^events +ev +v1 +true +Event$/m,
        /^customresourcedefinitions +crd,crds +apiextensions\.k8s\.io\/v1 +false +CustomResourceDefinition$/m,
        /^postgresdatabases +pgdb +postgres\.setpoint\.dev\/v1alpha1 +true +PostgresDatabase$/m,
        /^widgets +wd +test\.setpoint\.dev\/v1 +true +Widget$/m,
      ])
        expect(listed).toMatch(row)
    })

    it('lists a category, and what can be done with a kind', longOnly, async () => {
      expect(await lines('api-resources --categories=things -o name')).toEqual(['widgets.test.setpoint.dev'])
      const wide = await kubectl.ok('api-resources --api-group=test.setpoint.dev -o wide')
      expect(wide).toMatch(/create,delete,deletecollection,get,list,patch,update,watch +all,things/)
    })

    it('lists its API versions', longOnly, async () => {
      expect(await lines('api-versions')).toEqual(
        expect.arrayContaining(['apiextensions.k8s.io/v1', 'test.setpoint.dev/v1', 'v1']),
      )
    })

    it('answers a path as it is', longOnly, async () => {
      expect(await kubectl.ok('get --raw /healthz')).toBe('ok')
      const list = JSON.parse(await kubectl.ok('get --raw /apis/test.setpoint.dev/v1/namespaces/default/widgets'))
      expect(list).toMatchObject({
        kind: 'WidgetList',
        metadata: { resourceVersion: expect.stringMatching(/^\d+$/) },
      })
      expect(await kubectl.fails('get --raw /nowhere')).toContain('the server could not find the requested resource')
    })

    it('knows who asks, and what they may do', async () => {
      expect(await kubectl.ok('auth whoami')).toMatch(/^Username +setpoint-admin$/m)
      expect(await kubectl.ok('auth can-i create widgets')).toBe('yes\n')
      expect(await kubectl.ok("auth can-i '*' '*' -A")).toBe('yes\n')
      expect(await kubectl.ok('auth can-i --list')).toMatch(/^\*\.\* .*\[\*\]$/m)
    })
  })

  describe('explain', () => {
    it('tells the fields of a kind with their types', async () => {
      const told = await kubectl.ok('explain widget')
      expect(told).toMatch(/^GROUP: +test\.setpoint\.dev$/m)
      expect(told).toContain('Something to have in several sizes.')
      expect(told).toMatch(/^ {2}spec\t<Object> -required-$/m)
    })

    it('tells one field', longOnly, async () => {
      expect(await kubectl.ok('explain widget.spec.size')).toMatch(/FIELD: size <integer>[^]*How big it is\./)
    })

    it('tells everything below a field', longOnly, async () => {
      expect(await kubectl.ok('explain widget.spec --recursive')).toMatch(
        /ports\t<\[\]Object>\n +name\t<string> -required-/,
      )
    })

    it('tells of kinds that are built in', longOnly, async () => {
      expect(await kubectl.ok('explain configmap.data')).toContain('<map[string]string>')
    })

    it('says so where there is no such field', longOnly, async () => {
      expect(await kubectl.fails('explain widget.spec.weight')).toContain('field "weight" does not exist')
    })
  })

  describe('get', () => {
    it('prints the columns of the kind', async () => {
      const [head, ...rows] = await lines('get widgets')
      expect(head).toMatch(/^NAME +SIZE +READY +AGE$/)
      expect(rows).toHaveLength(3)
      expect(rows[2]).toMatch(/^red +3 +\d+s$/)
    })

    it('prints more columns when asked for wide ones', longOnly, async () => {
      const [head, row] = await lines('get widget red -o wide')
      expect(head).toMatch(/^NAME +SIZE +READY +COLOR +AGE +WAITING +ATTEMPT +NEXT RUN +LAST ERROR$/)
      expect(row).toMatch(/^red +3 +red +\d+s/)
    })

    it('prints the whole object as YAML and as JSON', async () => {
      expect(await kubectl.ok('get wd red -o yaml')).toMatch(
        /^spec:\n {2}color: red\n {2}size: 3\n {2}tags:\n {2}- a\n/m,
      )
      expect(await kubectl.json('get wd red')).toMatchObject({
        apiVersion: 'test.setpoint.dev/v1',
        kind: 'Widget',
        metadata: { name: 'red', generation: 1, uid: expect.any(String) },
        spec: { size: 3, color: 'red', tags: ['a', 'b'] },
      })
    })

    it('prints names', longOnly, async () => {
      expect(await lines('get wd -o name')).toEqual(
        ['blue', 'green', 'red'].map((name) => `widget.test.setpoint.dev/${name}`),
      )
    })

    it('prints what templates choose', longOnly, async () => {
      expect(await kubectl.ok("get wd -o jsonpath='{.items[*].spec.size}'")).toBe('2 1 3')
      expect(await kubectl.ok("get wd red -o go-template='{{.spec.color}}'")).toBe('red')
      const columns = await lines('get wd red -o custom-columns=NAME:.metadata.name,TAG:.spec.tags[0]')
      expect(columns.map((row) => row.split(/ +/))).toEqual([
        ['NAME', 'TAG'],
        ['red', 'a'],
      ])
    })

    it('sorts by a field', longOnly, async () => {
      const [, ...rows] = await lines('get wd --sort-by=.spec.size')
      expect(rows.map((row) => row.split(' ')[0])).toEqual(['green', 'blue', 'red'])
    })

    it('shows labels, all or as columns', longOnly, async () => {
      expect(await kubectl.ok('get wd red --show-labels')).toMatch(/app=shop,tier=front$/m)
      const [head, , green] = await lines('get wd -L tier')
      expect(head).toMatch(/AGE +TIER$/)
      expect(green).toMatch(/back$/)
    })

    it('leaves the head away', longOnly, async () => {
      expect(await lines('get wd --no-headers')).toHaveLength(3)
    })

    it('selects by labels', async () => {
      expect(await lines('get wd -l tier=front -o name')).toEqual(['widget.test.setpoint.dev/red'])
      expect(await lines("get wd -l 'tier in (front,back),app!=shop' -o name")).toEqual([
        'widget.test.setpoint.dev/green',
      ])
      expect(await lines("get wd -l '!tier' -o name")).toEqual(['widget.test.setpoint.dev/blue'])
    })

    it('selects by fields, those of the kind too', async () => {
      expect(await lines('get wd --field-selector metadata.name=blue -o name')).toEqual([
        'widget.test.setpoint.dev/blue',
      ])
      expect(await lines('get wd --field-selector spec.color=green -o name')).toEqual([
        'widget.test.setpoint.dev/green',
      ])
      expect(await kubectl.fails('get wd --field-selector spec.size=1')).toContain(
        'field label not supported: spec.size',
      )
    })

    it('looks into every namespace', longOnly, async () => {
      const [head, ...rows] = await lines('get wd -A')
      expect(head).toMatch(/^NAMESPACE +NAME +SIZE/)
      expect(rows).toHaveLength(4)
      expect(rows).toContainEqual(expect.stringMatching(/^other +far +9/))
    })

    it('reads in portions', longOnly, async () => {
      expect(await lines('get wd --chunk-size=1 -o name')).toHaveLength(3)
      const [, ...rows] = await lines('get wd -A --chunk-size=2')
      expect(rows).toHaveLength(4)
    })

    it('takes kinds and names together', longOnly, async () => {
      expect(await lines('get widget/red namespace/other -o name')).toEqual([
        'widget.test.setpoint.dev/red',
        'namespace/other',
      ])
      expect(await lines('get widgets.v1.test.setpoint.dev red blue -o name')).toHaveLength(2)
      expect(await kubectl.ok('get all')).toContain('widget.test.setpoint.dev/red')
    })

    it('says that there is nothing', longOnly, async () => {
      expect(await kubectl.run('get wd -n nowhere')).toMatchObject({
        code: 0,
        stdout: '',
        stderr: 'No resources found in nowhere namespace.\n',
      })
      expect(await kubectl.fails('get wd gone')).toBe(
        'Error from server (NotFound): widgets.test.setpoint.dev "gone" not found\n',
      )
      expect(await kubectl.run('get wd gone --ignore-not-found')).toMatchObject({ code: 0, stdout: '', stderr: '' })
    })

    it('says that there is no such kind', async () => {
      expect(await kubectl.fails('get gadgets')).toContain(`the server doesn't have a resource type "gadgets"`)
    })

    it('shows the kinds that are built in with their own columns', longOnly, async () => {
      expect(await kubectl.ok('get ns other')).toMatch(/^NAME +STATUS +AGE\nother +Active +\d+s$/m)
      expect(await kubectl.ok('get crd widgets.test.setpoint.dev')).toMatch(/^NAME +CREATED AT\nwidgets\S+ +20\S+Z$/m)
    })
  })

  describe('events', () => {
    const now = Date.now()
    const secondsAgo = (seconds: number): string => `'${new Date(now - seconds * 1000).toISOString().slice(0, 19)}Z'`
    const event = (name: string, reason: string): string => `
apiVersion: v1
kind: Event
metadata: { name: ${name}, namespace: default }
involvedObject: { apiVersion: test.setpoint.dev/v1, kind: Widget, name: blue, namespace: default }
type: Warning
reason: ${reason}
message: it happened
count: 2
firstTimestamp: ${secondsAgo(120)}
lastTimestamp: ${secondsAgo(60)}
source: { component: tester }
`

    beforeAll(() => kubectl.apply(manifests(event('one', 'Broke'), event('two', 'Mended'))))

    it('are listed', async () => {
      expect(await kubectl.ok('get events')).toMatch(/Warning +Broke +widget\/blue +it happened$/m)
      expect(await kubectl.ok('get events --field-selector reason=Mended -o name')).toBe('event/two\n')
      expect(await kubectl.ok('events')).toMatch(/Warning +Broke +Widget\/blue +it happened$/m)
      expect(await kubectl.ok('events --for widget/blue')).toContain('Mended')
      expect(await kubectl.run('events --for widget/red')).toMatchObject({ code: 0, stdout: '' })
    })

    it('stand at the end of what is described', async () => {
      const blue = await kubectl.json('get wd blue')
      await kubectl.apply(
        manifests(event('three', 'Told').replace('name: blue', `name: blue, uid: ${blue.metadata.uid}`)),
      )
      const told = await kubectl.ok('describe wd blue')
      expect(told).toMatch(/^Name: +blue\nNamespace: +default\n/)
      expect(told).toMatch(/^Spec:\n {2}Color: +blue\n {2}Size: +2\n/m)
      expect(told).toMatch(/^Events:\n[^]*Warning +Told +\S+ \(x2 over \S+\) +tester +it happened$/m)
    })

    it('are none where nothing happened', longOnly, async () => {
      expect(await kubectl.ok('describe widget/red')).toMatch(/^Events: +<none>$/m)
    })
  })

  it('describes kinds that are built in, and many at once', longOnly, async () => {
    expect(await kubectl.ok('describe ns other')).toMatch(/^Name: +other\n[^]*Status: +Active/)
    const all = await kubectl.ok('describe wd -l tier')
    expect(all.match(/^Name: .*$/gm)).toHaveLength(2)
    expect(await kubectl.fails('describe wd gone')).toContain('widgets.test.setpoint.dev "gone" not found')
  })
})
