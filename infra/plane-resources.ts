import type { AnswerAws } from './aws-command.ts'

/** What a control plane is made of, behind its id: parts of logical ids, which never change. */
const parts = {
  table: 'Table',
  deadLetters: 'SystemDeadLetters',
  failures: 'RelayFailures',
  relay: 'RelayFunction',
} as const

/** The one resource of a control plane that is known by its type, and that no app has besides. */
const guard = { type: 'Custom::SetpointControllers', part: 'Controllers' } as const

interface Resource {
  readonly LogicalResourceId: string
  readonly PhysicalResourceId: string
  readonly ResourceType: string
}

export type Find = (part: keyof typeof parts, type: string) => string

/**
 * Lists the stack's resources, once for all that are looked for. Those of its control plane are told from others of the
 * app, whatever those are called.
 */
export function findResources({ aws, stack }: { readonly aws: AnswerAws; readonly stack: string }): Find {
  const listing = ['cloudformation', 'list-stack-resources', `--stack-name=${stack}`]
  const { StackResourceSummaries: all } = aws(listing) as { readonly StackResourceSummaries: readonly Resource[] }
  const { LogicalResourceId: known = '' } = all.find(({ ResourceType }) => ResourceType === guard.type) ?? {}
  const [, plane] = new RegExp(`^(\\w+)${guard.part}${hash}$`).exec(known) ?? []
  if (plane === undefined) throw new Error(`the stack ${stack} has no ${guard.type}: it is no control plane`)
  return (part, type) => {
    const own = new RegExp(`^${plane}${parts[part]}${hash}$`)
    const found = all.find((one) => one.ResourceType === type && own.test(one.LogicalResourceId))
    if (found === undefined) throw new Error(`the stack ${stack} has no ${plane}${parts[part]}`)
    return found.PhysicalResourceId
  }
}

/** What CDK puts behind the ids of a path. */
const hash = '[0-9A-F]{8}'
