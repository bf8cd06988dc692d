import { Stack } from 'aws-cdk-lib'
import type * as lambda from 'aws-cdk-lib/aws-lambda'
import * as sqs from 'aws-cdk-lib/aws-sqs'

/** What the variables of a function may take: Lambda measures the JSON of all (`String measured`, says its refusal). */
export const variablesBytesMax = 4_096

/** About what they will take, with names as CloudFormation gives them. */
export function measureVariables(worker: lambda.Function): number {
  const stack = Stack.of(worker)
  const { environment } = worker.node.defaultChild as lambda.CfnFunction
  const { variables = {} } = (stack.resolve(environment) ?? {}) as {
    readonly variables?: Readonly<Record<string, unknown>>
  }
  const texts = Object.entries(variables).map(([name, value]) => [name, fillIn(value, stack)])
  return Buffer.byteLength(JSON.stringify(Object.fromEntries(texts)))
}

/** The text, with as many letters as CloudFormation will put in. */
function fillIn(value: unknown, stack: Stack): string {
  if (typeof value === 'string') return value
  const {
    Ref: ref,
    'Fn::Join': joined,
    'Fn::If': choice,
  } = value as {
    readonly Ref?: string
    readonly 'Fn::Join'?: readonly [string, readonly unknown[]]
    readonly 'Fn::If'?: readonly [string, unknown, unknown]
  }
  if (joined !== undefined) return joined[1].map((part) => fillIn(part, stack)).join(joined[0])
  if (choice !== undefined) {
    const [one, other] = [fillIn(choice[1], stack), fillIn(choice[2], stack)]
    return one.length > other.length ? one : other
  }
  return 'x'.repeat(ref === undefined ? arnBytes : lengthOfRef(ref, stack))
}

/** Of a role, with a name of a usual length. */
const arnBytes = 80

function lengthOfRef(ref: string, stack: Stack): number {
  const pseudo = pseudoLengths[ref]
  if (pseudo !== undefined) return pseudo
  const named = `${stack.stackName}-${ref}-`.length + suffixLength
  const isQueue = stack.node.findAll().some((one) => one instanceof sqs.CfnQueue && stack.getLogicalId(one) === ref)
  return isQueue ? queueUrl.length + Math.min(queueNameMax, named) : named
}

const pseudoLengths: Readonly<Record<string, number>> = {
  'AWS::AccountId': 12,
  'AWS::Region': 'ap-southeast-1'.length,
  'AWS::Partition': 'aws'.length,
}

/** What CloudFormation puts behind a logical id, with the ending of a FIFO queue. */
const suffixLength = 17
const queueUrl = 'https://sqs.ap-southeast-1.amazonaws.com/123456789012/'
const queueNameMax = 80
