import type { AnswerAws } from './aws-command.ts'

/** What a control plane is made of, behind its id: ids of constructs, which never change. */
const parts = {
  table: ['Table'],
  deadLetters: ['System', 'DeadLetters'],
  failures: ['Relay', 'Failures'],
  relay: ['RelayFunction'],
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
  const [, named] = new RegExp(`^(\\w*${guard.part})${hash}$`).exec(known) ?? []
  if (named === undefined) throw new Error(`the stack ${stack} has no ${guard.type}: it is no control plane`)
  const planes = [named.slice(0, -guard.part.length), named]
  return (part, type) => {
    const ids = planes.map((plane) => logicalId(plane, parts[part]))
    const own = new RegExp(`^(?:${ids.join('|')})${hash}$`)
    const found = all.filter((one) => one.ResourceType === type && own.test(one.LogicalResourceId))
    const [only] = found
    if (only === undefined || found.length > 1)
      throw new Error(`the stack ${stack} has ${found.length} resources of type ${type} that are called ${ids[0]}`)
    return only.PhysicalResourceId
  }
}

/** As CDK makes it of a path: an id that the one before it ends with is left out, and so is the id `Default`. */
function logicalId(plane: string, path: readonly string[]): string {
  return path.reduce((id, part) => (id.endsWith(part) ? id : `${id}${part}`), plane)
}

/** What CDK puts behind the ids of a path. */
const hash = '[0-9A-F]{8}'
