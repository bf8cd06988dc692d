/** A definition in a group of the Kubernetes project says in this annotation who approved it, or that nobody did. */
export const approvalAnnotation = 'api-approved.kubernetes.io'

/** Kubernetes' own groups without a dot. kubectl is compiled with their kinds. */
const groupsWithoutDot: readonly string[] = ['apps', 'autoscaling', 'batch', 'extensions', 'policy']

/** Whether a group is Kubernetes' own: one without a dot that clients are compiled with, or one below its domains. */
export function isKubernetesGroup(group: string): boolean {
  return groupsWithoutDot.includes(group) || /(?:^|\.)(?:k8s|kubernetes)\.io$/.test(group)
}
