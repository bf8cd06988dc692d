import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { findKubectls, noKubectl } from '../support/kubectl.ts'
import { widgetSession } from './widget-session.ts'
import { manifests, widget } from './widgets.ts'

const [newest] = await findKubectls()

describe.skipIf(newest === undefined)('kubectl and rights', { meta: { skipped: noKubectl } }, () => {
  const { kubectl, kubeconfig, directory } = widgetSession(newest)
  const tokenConfig = (token: string): string => {
    const file = join(directory, 'account.kubeconfig')
    writeFileSync(file, readFileSync(kubeconfig, 'utf8').replace(/token: .*/, `token: ${token}`))
    return file
  }
  beforeAll(async () => {
    await kubectl.ok('create namespace team')
    await kubectl.apply(manifests(widget('one')))
    await kubectl.ok('create clusterrole widgets --verb=get,list,watch --resource=widgets.test.setpoint.dev')
    await kubectl.ok('create rolebinding viewers -n team --clusterrole=view --group=people')
  })

  it('creates roles, bindings and ServiceAccounts', async () => {
    const made = [
      ['role reader --verb=get,list --resource=configmaps', 'role.rbac.authorization.k8s.io/reader'],
      ['rolebinding b --role=reader --user=bob --serviceaccount=team:robot', 'rolebinding.rbac.authorization.k8s.io/b'],
      ['clusterrole urls --verb=get --non-resource-url=/metrics', 'clusterrole.rbac.authorization.k8s.io/urls'],
      ['clusterrole all-widgets --aggregation-rule=widgets=all', 'clusterrole.rbac.authorization.k8s.io/all-widgets'],
      ['clusterrolebinding c --clusterrole=urls --group=people', 'clusterrolebinding.rbac.authorization.k8s.io/c'],
      ['serviceaccount robot', 'serviceaccount/robot'],
    ] as const
    for (const [command, name] of made) expect(await kubectl.ok(`create ${command} -n team`)).toBe(`${name} created\n`)
    const [, bound = ''] = (await kubectl.ok('get rolebindings b -n team -o wide')).split('\n')
    expect(bound).toMatch(/^b +Role\/reader +\d+s +bob +team\/robot *$/)
    expect(await kubectl.ok('describe rolebinding b -n team')).toMatch(/ServiceAccount +robot +team/)
    expect(await kubectl.ok('describe clusterrole urls')).toMatch(/\[\/metrics\] +\[\] +\[get\]/)
  })

  it('asks what somebody may do, and is told the truth', async () => {
    const canI = async (line: string) => (await kubectl.run(`auth can-i ${line}`)).stdout.trim()
    expect(await canI('list configmaps')).toBe('yes')
    expect(await canI('list configmaps -n team --as=bob --as-group=people')).toBe('yes')
    expect(await canI('list secrets -n team --as=bob --as-group=people')).toBe('no')
    expect(await canI('list configmaps --as=carol')).toBe('no')
    expect(await canI('get /metrics --as=nobody')).toBe('no')
    const unknown = await kubectl.run('auth can-i get starships --as=carol')
    expect(unknown.stdout.trim()).toBe('no')
    expect(unknown.stderr).toContain("the server doesn't have a resource type 'starships'")
    const list = await kubectl.ok('auth can-i --list -n team --as=dora --as-group=people')
    expect(list).toMatch(/configmaps +\[\] +\[\] +\[get list watch\]/)
    expect(list).not.toMatch(/^secrets/m)
    expect(list).not.toMatch(/^\*\.\*/m)
  })

  it('says who it is, and who it would be', async () => {
    expect(await kubectl.ok('auth whoami')).toMatch(/Username +setpoint-admin/)
    const other = await kubectl.ok('auth whoami --as=bob --as-group=people --as-uid=7')
    expect(other).toMatch(/Username +bob\nUID +7\nGroups +\[people system:authenticated\]/)
  })

  it('is refused in the words of Kubernetes', async () => {
    expect(await kubectl.fails('get secrets -n team --as=bob')).toBe(
      'Error from server (Forbidden): secrets is forbidden: User "bob" cannot list resource "secrets" in API group "" in the namespace "team"\n',
    )
    expect(await kubectl.fails('delete widgets one --as=bob')).toContain(
      'widgets.test.setpoint.dev "one" is forbidden: User "bob" cannot delete resource "widgets"',
    )
  })

  it('makes tokens of ServiceAccounts, which hold until their account is gone', async () => {
    await kubectl.ok('create serviceaccount short -n team')
    await kubectl.ok('create rolebinding short -n team --clusterrole=view --serviceaccount=team:short')
    const token = (await kubectl.ok('create token short -n team --duration=10m')).trim()
    const asAccount = `--kubeconfig=${tokenConfig(token)}`
    expect(await kubectl.ok(`get configmaps -n team ${asAccount}`)).toBe('')
    expect(await kubectl.ok(`auth whoami ${asAccount}`)).toContain('system:serviceaccount:team:short')
    expect(await kubectl.fails(`get secrets -n team ${asAccount}`)).toContain(
      'User "system:serviceaccount:team:short" cannot list resource "secrets"',
    )
    await kubectl.ok('delete serviceaccount short -n team')
    expect(await kubectl.fails(`get configmaps -n team ${asAccount}`)).toContain('Unauthorized')
  })

  it('reconciles roles from files', async () => {
    const file = join(directory, 'roles.yaml')
    writeFileSync(
      file,
      `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reconciled, namespace: team}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: reconciled, namespace: team}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reconciled}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: erin}]
`,
    )
    expect(await kubectl.ok(`auth reconcile -f ${file}`)).toContain('role.rbac.authorization.k8s.io/reconciled')
    expect(await kubectl.ok(`auth reconcile -f ${file}`)).toContain('rolebinding.rbac.authorization.k8s.io/reconciled')
    expect(await kubectl.ok('auth can-i get configmaps -n team --as=erin')).toBe('yes\n')
  })

  it('applies roles from both sides', async () => {
    const role = (verb: string): string => `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: applied, namespace: team}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [${verb}]}]
`
    await kubectl.apply(role('get'))
    expect(await kubectl.apply(role('list'))).toContain('configured')
    await kubectl.ok('apply --server-side -f - --force-conflicts', { input: role('watch') })
    expect((await kubectl.json('get role applied -n team'))['rules'][0].verbs).toEqual(['watch'])
  })
})
