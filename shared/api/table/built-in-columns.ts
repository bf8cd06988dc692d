import { objectsOf, roleRefOf, subjectsOf } from '../../model/access/rules.ts'
import { isObject, textOf, type Json } from '../../model/json.ts'
import { apiVersionOf, type ApiObject } from '../../model/object.ts'
import type { ServedKind } from '../../model/served-kind.ts'
import { computedColumns } from './computed-columns.ts'
import { age, nameColumn, since, type Column } from './column.ts'

/** Kubernetes' own columns for the kinds whose cells a JSON path cannot say; `undefined` for every other kind. */
export function findBuiltInColumns({ group, version, kind }: ServedKind): readonly Column[] | undefined {
  return columns[`${apiVersionOf(group, version)}/${kind}`]
}

const columns: Readonly<Record<string, readonly Column[]>> = {
  'v1/Namespace': [nameColumn, column('Status', ({ status }) => status?.['phase'] ?? null), age],
  'v1/ConfigMap': [nameColumn, data('data', 'binaryData'), age],
  'v1/Secret': [nameColumn, column('Type', (secret) => secret['type'] ?? null), data('data'), age],
  'v1/Event': [
    column('Last Seen', lastSeen),
    column('Type', (event) => event['type'] ?? ''),
    column('Reason', (event) => event['reason'] ?? ''),
    column('Object', formatInvolved),
    wide(column('Source', source)),
    column('Message', (event) => String(event['message'] ?? '').trim()),
    wide(column('First Seen', (event, nowMs) => since(firstTime(event), nowMs))),
    wide({ ...column('Count', occurrences), type: 'integer' }),
    wide(nameColumn),
  ],
  'apiextensions.k8s.io/v1/CustomResourceDefinition': [nameColumn, createdAt()],
  'v1/ServiceAccount': [nameColumn, counted('Secrets', ({ secrets }) => secrets), age],
  'v1/ResourceQuota': [
    nameColumn,
    column(
      'Request',
      quotaCells((name) => !isLimit(name)),
    ),
    column('Limit', quotaCells(isLimit)),
    age,
  ],
  'rbac.authorization.k8s.io/v1/Role': [nameColumn, createdAt()],
  'rbac.authorization.k8s.io/v1/ClusterRole': [nameColumn, createdAt()],
  'rbac.authorization.k8s.io/v1/RoleBinding': bindingColumns(),
  'rbac.authorization.k8s.io/v1/ClusterRoleBinding': bindingColumns(),
  'admissionregistration.k8s.io/v1/ValidatingWebhookConfiguration': webhookColumns(),
  'admissionregistration.k8s.io/v1/MutatingWebhookConfiguration': webhookColumns(),
  'admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy': policyColumns('Validations'),
  'admissionregistration.k8s.io/v1/MutatingAdmissionPolicy': policyColumns('Mutations'),
  'admissionregistration.k8s.io/v1/ValidatingAdmissionPolicyBinding': policyBindingColumns(),
  'admissionregistration.k8s.io/v1/MutatingAdmissionPolicyBinding': policyBindingColumns(),
  ...computedColumns,
}

function webhookColumns(): readonly Column[] {
  return [nameColumn, counted('Webhooks', ({ webhooks }) => webhooks), age]
}

function policyColumns(parts: 'Validations' | 'Mutations'): readonly Column[] {
  const kindOf = (policy: ApiObject): string => {
    const { paramKind } = part(policy, 'spec')
    return isObject(paramKind) ? `${textOf(paramKind['apiVersion'])}/${textOf(paramKind['kind'])}` : unset
  }
  return [
    nameColumn,
    counted(parts, (policy) => part(policy, 'spec')[parts.toLowerCase()]),
    column('ParamKind', kindOf),
    age,
  ]
}

function policyBindingColumns(): readonly Column[] {
  const refOf = (binding: ApiObject): string => {
    const { paramRef } = part(binding, 'spec')
    if (!isObject(paramRef)) return unset
    const { name, namespace, selector = null } = paramRef
    // The kind of the parameters is not known here: its objects may be in no namespace.
    return textOf(name) === '' ? JSON.stringify(selector) : `${textOf(namespace) || '*'}/${textOf(name)}`
  }
  return [
    nameColumn,
    column('PolicyName', (binding) => part(binding, 'spec')['policyName'] ?? null),
    column('ParamRef', refOf),
    age,
  ]
}

const unset = '<unset>'

function counted(name: string, itemsOf: (object: ApiObject) => Json | undefined): Column {
  return { ...column(name, (object) => objectsOf(itemsOf(object)).length), type: 'integer' }
}

function isLimit(name: string): boolean {
  return name.startsWith('limits')
}

/** What is used of what, as printers.printResourceQuota says it. */
function quotaCells(shows: (name: string) => boolean): Column['cell'] {
  return ({ status }) => {
    const { hard, used } = status ?? {}
    const limits = isObject(hard) ? hard : {}
    const amounts = isObject(used) ? used : {}
    const names = Object.keys(limits).filter(shows).toSorted()
    return names.map((name) => `${name}: ${String(amounts[name] ?? 0)}/${String(limits[name])}`).join(', ')
  }
}

function createdAt(): Column {
  return { ...column('Created At', ({ metadata }) => metadata.creationTimestamp), type: 'date' }
}

function bindingColumns(): readonly Column[] {
  const names = (kind: string) => (binding: ApiObject) =>
    subjectsOf(binding)
      .filter((subject) => subject.kind === kind)
      .map(({ name, namespace }) => (kind === 'ServiceAccount' ? `${namespace}/${name}` : name))
      .join(', ')
  const role = (binding: ApiObject): string => {
    const { kind, name } = roleRefOf(binding)
    return `${kind}/${name}`
  }
  return [
    nameColumn,
    column('Role', role),
    age,
    wide(column('Users', names('User'))),
    wide(column('Groups', names('Group'))),
    wide(column('ServiceAccounts', names('ServiceAccount'))),
  ]
}

function column(name: string, cell: Column['cell']): Column {
  return { name, type: 'string', cell }
}

function wide(shown: Column): Column {
  return { ...shown, priority: 1 }
}

function data(...fields: readonly string[]): Column {
  const cell = (object: ApiObject): number =>
    fields.reduce((sum, field) => sum + Object.keys(part(object, field)).length, 0)
  return { ...column('Data', cell), type: 'integer' }
}

/** The time of the last occurrence, as printers.printEvent says it: with how often since when, if more than once. */
function lastSeen(event: ApiObject, nowMs: number): string {
  const last = since(part(event, 'series')['lastObservedTime'] ?? event['lastTimestamp'] ?? event['eventTime'], nowMs)
  const count = occurrences(event)
  return count > 1 ? `${last} (x${count} over ${since(firstTime(event), nowMs)})` : last
}

function firstTime(event: ApiObject): Json {
  return event['firstTimestamp'] ?? event['eventTime'] ?? null
}

function occurrences(event: ApiObject): number {
  const count = part(event, 'series')['count'] ?? event['count']
  return typeof count === 'number' && count > 0 ? count : 1
}

function formatInvolved(event: ApiObject): string {
  const { kind = '', name = '' } = part(event, 'involvedObject')
  const type = String(kind).toLowerCase()
  return name === '' ? type : `${type}/${String(name)}`
}

function source(event: ApiObject): string {
  const { component = '', host = '' } = part(event, 'source')
  const who = component === '' ? (event['reportingComponent'] ?? '') : component
  const where = host === '' ? (event['reportingInstance'] ?? '') : host
  return [who, where].filter((text) => text !== '').join(', ')
}

function part(object: ApiObject, field: string): { readonly [name: string]: Json | undefined } {
  const value = object[field]
  return isObject(value) ? value : {}
}
