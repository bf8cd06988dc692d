import type { OperatingError } from '../model/errors.ts'
import { defineBuiltInKind, type ServedKind } from '../model/served-kind.ts'
import { methodNotAllowed } from './request-info.ts'

/** `kubectl get all` asks for these of a cluster, too. */
const inAll: Partial<ServedKind> = { categories: ['all'] }

/**
 * Kinds of a cluster that clients read though nothing of them can be here: `kubectl cluster-info` lists Services, and
 * `kubectl apply --prune` lists all that it would delete. Of each there are none, and none can be made, until
 * a definition brings the kind.
 */
export const emptyKinds: readonly ServedKind[] = [
  emptyKind('', 'Service', 'services', { shortNames: ['svc'], ...inAll }),
  emptyKind('', 'Pod', 'pods', {
    shortNames: ['po'],
    selectableFields: ['spec.nodeName', 'status.phase'],
    ...inAll,
  }),
  emptyKind('', 'Node', 'nodes', { shortNames: ['no'], namespaced: false }),
  emptyKind('', 'Endpoints', 'endpoints', { shortNames: ['ep'] }),
  emptyKind('', 'PersistentVolumeClaim', 'persistentvolumeclaims', { shortNames: ['pvc'] }),
  emptyKind('', 'PersistentVolume', 'persistentvolumes', { shortNames: ['pv'], namespaced: false }),
  emptyKind('', 'ReplicationController', 'replicationcontrollers', { shortNames: ['rc'], ...inAll }),
  emptyKind('apps', 'DaemonSet', 'daemonsets', { shortNames: ['ds'], ...inAll }),
  emptyKind('apps', 'Deployment', 'deployments', { shortNames: ['deploy'], ...inAll }),
  emptyKind('apps', 'ReplicaSet', 'replicasets', { shortNames: ['rs'], ...inAll }),
  emptyKind('apps', 'StatefulSet', 'statefulsets', { shortNames: ['sts'], ...inAll }),
  emptyKind('batch', 'Job', 'jobs', inAll),
  emptyKind('batch', 'CronJob', 'cronjobs', inAll),
  emptyKind('networking.k8s.io', 'Ingress', 'ingresses', { shortNames: ['ing'] }),
]

function emptyKind(group: string, kind: string, plural: string, parts: Partial<ServedKind>): ServedKind {
  return defineBuiltInKind({ group, kind, plural, namespaced: true, schema: { type: 'object' }, ...parts })
}

/** Why a kind does not answer a verb: who sends a Deployment learns that this is no cluster. */
export function verbRefusal(kind: ServedKind): OperatingError {
  if (!emptyKinds.includes(kind)) return methodNotAllowed()
  const name = kind.group === '' ? kind.plural : `${kind.plural}.${kind.group}`
  return methodNotAllowed(`Setpoint is no cluster and stores no ${name}; it lists none for tools that ask`)
}

/** These kinds, and after them those of which nothing is stored, where no definition has taken their place. */
export function withUnstoredKinds(
  kinds: readonly ServedKind[],
  unstored: readonly ServedKind[],
): readonly ServedKind[] {
  const taken = new Set(kinds.map(pathName))
  return [...kinds, ...unstored.filter((kind) => !taken.has(pathName(kind)))]
}

function pathName({ group, version, plural }: Pick<ServedKind, 'group' | 'version' | 'plural'>): string {
  return `${group}/${version}/${plural}`
}
