import { CustomResource, Duration, Lazy, Stack } from 'aws-cdk-lib'
import { Construct, type IConstruct } from 'constructs'
import type { ReconcilerDescription } from '../bundling/reconciler-modules.ts'
import type { ControlFunction } from './control-function.ts'

export interface RemovalGuardProps {
  readonly worker: ControlFunction
  readonly controllers: () => readonly ReconcilerDescription[]
}

/**
 * Keeps a Controller from being taken away while objects carry its finalizer. It stands in the template after
 * everything else, so CloudFormation changes it last, when a refusal still rolls all of an update back, and deletes it
 * first.
 */
export class RemovalGuard extends Construct {
  private readonly resource: CustomResource

  constructor(scope: Construct, id: string, { worker, controllers }: RemovalGuardProps) {
    super(scope, id)
    // Whether CloudFormation rolls back.
    worker.allow(['cloudformation:DescribeStacks'], [Stack.of(this).stackId])
    this.resource = new CustomResource(this, 'Resource', {
      resourceType: 'Custom::SetpointControllers',
      serviceToken: worker.functionArn,
      serviceTimeout: Duration.minutes(6),
      properties: { controllers: Lazy.any({ produce: () => controllers().map(identity) }) },
    })
  }

  /** What must not be gone before it has been asked. */
  guard(...constructs: readonly IConstruct[]): void {
    this.resource.node.addDependency(...constructs)
  }
}

export const removalTimeout = Duration.minutes(5)

function identity({ name, group, kind, finalizer }: ReconcilerDescription): object {
  return { name, group, kind, ...(finalizer !== undefined && { finalizer }) }
}
