import type { Client } from './client.ts'
import { crds } from './crds.ts'
import { argo, clientGo, controllerRuntime, flux } from './go.ts'
import { helm } from './helm.ts'
import { java } from './java.ts'
import { k9s } from './k9s.ts'
import { kubectl } from './kubectl.ts'
import { kustomize } from './kustomize.ts'
import { oidc } from './oidc.ts'
import { clientNode, kopf, olderPython, pythonKubernetes, rbac } from './scripts.ts'

/** Those that `npm run clients` runs, in this order. `docs/reference.md` names them. */
export const clients: readonly Client[] = [
  kubectl,
  clientGo,
  controllerRuntime,
  pythonKubernetes,
  olderPython,
  kopf,
  clientNode,
  java,
  helm,
  flux,
  kustomize,
  argo,
  k9s,
  crds,
  rbac,
  oidc,
]
