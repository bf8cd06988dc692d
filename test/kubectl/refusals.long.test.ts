import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findKubectls, noKubectl } from '../support/kubectl.ts'
import { widgetSession } from './widget-session.ts'
import { widget, widgetDefinition } from './widgets.ts'

const [newest] = await findKubectls()

describe.skipIf(newest === undefined)(
  'what kubectl says when it is refused',
  { meta: { skipped: noKubectl }, concurrent: true },
  () => {
    const { kubectl, kubeconfig, directory } = widgetSession(newest)

    const refusal = (input: string, command = 'create -f -'): Promise<string> => kubectl.fails(command, { input })

    describe('for what does not fit the schema', () => {
      it('names every field that is wrong', async () => {
        const complaint = await refusal(widget('bad', { spec: '{size: 101, color: pink, note: 7}' }))
        expect(complaint).toMatch(/^The Widget "bad" is invalid: *\n/)
        expect(complaint).toContain(
          '* spec.size: Invalid value: 101: spec.size in body should be less than or equal to 100',
        )
        expect(complaint).toContain('* spec.color: Unsupported value: "pink": supported values: ')
        expect(complaint).toMatch(
          /\* spec\.note: Invalid value: "integer": spec\.note in body must be of type string: "integer"/,
        )
      })

      it('names the one field that is wrong', async () => {
        expect(await refusal(widget('bad', { spec: '{size: -1}' }))).toContain(
          'The Widget "bad" is invalid: spec.size: Invalid value: -1: spec.size in body should be greater than or equal to 0',
        )
      })

      it('says what a rule in CEL says', async () => {
        expect(await refusal(widget('bad', { spec: '{size: 7, note: forbidden}' }))).toContain(
          'The Widget "bad" is invalid: spec.note: Forbidden: a Widget of size 7 has no such note',
        )
      })

      it('says what a rule in CEL says of a change', async () => {
        await kubectl.apply(widget('painted', { spec: '{color: blue}' }))
        expect(await refusal(widget('painted', { spec: '{color: red}' }), 'apply -f -')).toContain(
          'spec: Invalid value: "object": blue never becomes red',
        )
        await kubectl.apply(widget('painted', { spec: '{color: green}' }))
      })

      it('refuses a definition whose rules do not compile, with the place', async () => {
        const definition = widgetDefinition
          .replaceAll('widgets', 'wrongs')
          .replaceAll('Widget', 'Wrong')
          .replace(/singular:.*all, things] /, '')
          .replace("self.note != 'forbidden'", 'self.note != 7')
        const complaint = await refusal(definition)
        expect(complaint).toContain('x-kubernetes-validations[0].rule')
        expect(complaint).toContain("found no matching overload for '_!=_' applied to '(string, int)'")
      })

      it('names what is missing', async () => {
        expect(await refusal(widget('bad').replace(/spec: .*/, ''))).toContain(
          'The Widget "bad" is invalid: spec: Required value',
        )
      })

      it('names a duplicate', async () => {
        expect(await refusal(widget('bad', { spec: '{tags: [a, a]}' }))).toContain('spec.tags[1]: Duplicate value: "a"')
      })

      it('names an unknown field', async () => {
        expect(await refusal(widget('bad', { spec: '{weight: 1}' }))).toContain(
          'Error from server (BadRequest): error when creating "STDIN": Widget in version "v1" cannot be handled as a Widget: strict decoding error: unknown field "spec.weight"',
        )
      })

      it('warns of an unknown field, or lets it go, when told to', async () => {
        const input = widget('lenient', { spec: '{size: 2, weight: 1}' })
        const warned = await kubectl.run('create -f - --validate=warn', { input })
        expect(warned).toMatchObject({ code: 0, stderr: 'Warning: unknown field "spec.weight"\n' })
        expect((await kubectl.json('get wd lenient')).spec).toEqual({ size: 2 })
        expect(await kubectl.run('apply -f - --validate=ignore', { input })).toMatchObject({ code: 0 })
      })

      it('names what is wrong with a change', async () => {
        await kubectl.apply(widget('good'))
        expect(await kubectl.fails(`patch wd good --type=merge -p '{"spec":{"size":"big"}}'`)).toContain(
          'The Widget "good" is invalid: spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"',
        )
      })
    })

    it('for what runs in a cluster: what is not there', async () => {
      const { fails } = kubectl
      expect(await fails('create deployment x --image=y')).toContain('stores no deployments.apps')
      expect(await fails('create service clusterip x --tcp=80')).toContain('does not allow this method')
      expect(await fails('get limitranges')).toContain(`the server doesn't have a resource type "limitranges"`)
    })

    it('for a number that would lose digits', async () => {
      expect(await refusal(widget('digits', { spec: '{size: 9007199254740993}' }))).toContain(
        'spec.size: it is a number that cannot be kept exactly; write it as a string',
      )
    })

    it('for a dry run of what is there', async () => {
      const dryRun = 'create cm rehearsed --from-literal=a=1 -n default -o yaml --dry-run='
      await kubectl.ok('apply --server-side -f -', { input: await kubectl.ok(`${dryRun}client`) })
      expect(await kubectl.fails(`${dryRun}server`)).toContain('configmaps "rehearsed" already exists')
    })

    it('for a subresource that objects have not: which, and of what', async () => {
      await kubectl.ok('create cm unscaled')
      expect(await kubectl.fails('scale cm unscaled --replicas=2')).toContain(
        'the server could not find the requested resource: configmaps have no subresource "scale"',
      )
      expect(await kubectl.fails('get --raw /api/v1/namespaces/default/configmaps/x/status')).toContain(
        'configmaps have no subresource "status"',
      )
    })

    describe('for its metadata', () => {
      it.each([
        {
          text: '{apiVersion: v1, kind: Namespace, metadata: {name: a.b}}',
          says: /"a\.b" is invalid: metadata\.name: Invalid value: "a\.b": a lowercase RFC 1123 label/,
        },
        { text: widget('Bad_Name'), says: /metadata\.name: Invalid value: "Bad_Name": a lowercase RFC 1123 subdomain/ },
        {
          text: widget('bad', { labels: '{"a b": c}' }),
          says: /metadata\.labels: Invalid value: "a b": name part must/,
        },
        {
          text: widget('bad', { labels: '{a: "b c"}' }),
          says: /metadata\.labels: Invalid value: "b c": a valid label must/,
        },
        {
          text: widget('bad').replace('metadata:', 'metadata:\n  finalizers: ["a b"]'),
          says: /metadata\.finalizers: Invalid value: "a b": must be a qualified name/,
        },
        {
          text: widget('bad').replace(
            'metadata:',
            'metadata:\n  ownerReferences: [{kind: A, name: b, apiVersion: v1, uid: ""}]',
          ),
          says: /metadata\.ownerReferences\S*: (Invalid value|Required value)/,
        },
        { text: widget('bad').replace('name: bad', ''), says: /name or generateName is required/ },
      ])('says $says', async ({ text, says }) => {
        expect(await refusal(text)).toMatch(says)
      })
    })

    describe('for a definition', () => {
      const definition = (from: string, to: string): string =>
        widgetDefinition.replaceAll('widget', 'gizmo').replace('kind: Widget', 'kind: Gizmo').replace(from, to)

      it.each([
        {
          because: 'the name is not that of the plural',
          text: definition('name: gizmos.test.setpoint.dev', 'name: gizmos'),
          says: /metadata\.name: Invalid value: "gizmos": must be spec\.names\.plural\+"\."\+spec\.group/,
        },
        {
          because: 'there is no schema',
          text: definition('openAPIV3Schema:', 'other:'),
          says: /unknown field|Required value: schemas are required/,
        },
        {
          because: 'the schema is not structural',
          text: definition('size: { type: integer,', 'size: {'),
          says: /spec\.versions\[0\]\.schema\.openAPIV3Schema\.properties\[spec\]\.properties\[size\]\.type: Required value/,
        },
        {
          because: 'no version is stored',
          text: definition('storage: true', 'storage: false'),
          says: /must have exactly one version marked as storage version/,
        },
      ])('when $because', async ({ text, says }) => {
        expect(await refusal(text, 'create -f -')).toMatch(says)
      })

      it('when another has its names', async () => {
        await kubectl.apply(widget('kept'))
        await kubectl.apply(widgetDefinition.replaceAll('widgets', 'widgetz').replace('[wd]', '[wz]'))
        const condition = `{.status.conditions[?(@.type=="NamesAccepted")].message}`
        expect(await kubectl.ok(`get crd widgetz.test.setpoint.dev -o jsonpath='${condition}'`)).toMatch(
          /"Widget(List)?" is already in use/,
        )
        expect(await kubectl.fails('get widgetz')).toContain(`the server doesn't have a resource type "widgetz"`)
        await kubectl.ok('delete crd widgetz.test.setpoint.dev --timeout=60s')
        expect(await kubectl.ok('get widgets -o name')).toContain('widget.test.setpoint.dev/kept')
      })
    })

    describe('for who asks', () => {
      const changed = (name: string, change: (text: string) => string): string => {
        const path = join(directory, name)
        writeFileSync(path, change(readFileSync(kubeconfig, 'utf8')))
        return path
      }

      it('with a wrong token', async () => {
        const path = changed('wrong-token', (text) => text.replace(/token: .*/, 'token: wrong'))
        for (const command of [
          'get ns',
          'get --raw /api',
          'get --raw /openapi/v3',
          'get --raw /version',
          'api-resources',
        ]) {
          expect(await kubectl.fails(`${command} --kubeconfig ${path}`)).toContain(
            'You must be logged in to the server',
          )
        }
      })

      it('from a server it does not trust', async () => {
        const path = changed('no-authority', (text) => text.replace(/certificate-authority-data: .*/, ''))
        expect(await kubectl.fails(`get ns --kubeconfig ${path}`)).toContain('certificate signed by unknown authority')
      })
    })

    it('for too much', async () => {
      const path = join(directory, 'big')
      writeFileSync(path, 'x'.repeat(4_000_000))
      expect(await kubectl.fails(`create cm big --from-file=${path}`)).toMatch(/Request entity too large|too large/i)
      expect(await kubectl.run('get --raw /healthz')).toMatchObject({ code: 0 })
    })

    it('for a strategic merge', async () => {
      await kubectl.apply(widget('strategic'))
      const complaint = await kubectl.fails(`patch wd strategic -p '{"spec":{"size":2}}'`)
      expect(complaint).toContain('strategic-merge-patch+json is not supported by test.setpoint.dev/v1, Kind=Widget')
      expect(complaint).toContain('use kubectl patch --type=merge or kubectl apply --server-side')
    })

    it('for a change of what identifies it', async () => {
      await kubectl.apply(widget('itself'))
      const merge = (metadata: string): Promise<string> =>
        kubectl.fails(`patch wd itself --type=merge -p '{"metadata":${metadata}}'`)
      expect(await merge('{"name":"other"}')).toContain('the name of the object (other) does not match')
      expect(await merge('{"namespace":"other"}')).toContain(
        'the namespace of the provided object (other) does not match',
      )
      expect(await merge('{"uid":"other"}')).toContain('metadata.uid: Invalid value: "other": field is immutable')
      expect(await merge('{"resourceVersion":"1"}')).toContain('the object has been modified')
    })

    it('for a change of what is immutable', async () => {
      await kubectl.apply(
        '{apiVersion: v1, kind: ConfigMap, metadata: {name: fixed, namespace: default}, data: {a: "1"}, immutable: true}',
      )
      expect(await kubectl.fails(`patch cm fixed --type=merge -p '{"data":{"a":"2"}}'`)).toContain(
        'data: Forbidden: field is immutable when `immutable` is set',
      )
    })

    it('for a secret that is no base64', async () => {
      expect(
        await refusal('{apiVersion: v1, kind: Secret, metadata: {name: bad, namespace: default}, data: {a: "%%"}}'),
      ).toMatch(/data|base64/)
    })

    it('for a kind that nobody defined', async () => {
      expect(await refusal(widget('x').replace('kind: Widget', 'kind: Nothing'))).toContain(
        'no matches for kind "Nothing" in version "test.setpoint.dev/v1"',
      )
      expect(await refusal(widget('x').replace('test.setpoint.dev/v1', 'test.setpoint.dev/v9'))).toContain(
        'no matches for kind',
      )
    })
  },
)
