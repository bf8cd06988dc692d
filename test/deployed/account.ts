import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../support/control-plane-process.ts'
import { runProgram, type Ended } from '../support/program.ts'
import { accountId, awsCommand, region, type Ministack } from './ministack.ts'

/** An account in the emulator, with two people in it. */
export interface Account {
  readonly ministack: Ministack
  /** May do everything, and is an administrator of the control planes. */
  readonly admin: Person
  /** May do everything in AWS, and is nobody to the control planes. */
  readonly stranger: Person
  /** A directory with an `aws` for the PATH. */
  readonly binDirectory: string
}

/** The variables with the credentials of somebody's role. */
export type Person = Readonly<Record<'AWS_ACCESS_KEY_ID' | 'AWS_SECRET_ACCESS_KEY' | 'AWS_SESSION_TOKEN', string>>

export async function openAccount(ministack: Ministack, directory: string): Promise<Account> {
  const binDirectory = join(directory, 'bin')
  const first = { ministack, binDirectory, admin: owner, stranger: owner }
  writeAws(directory)
  const admin = await createPerson(first, 'Admin')
  const stranger = await createPerson(first, 'Stranger')
  return { ministack, binDirectory, admin, stranger }
}

/** Who has the account: nothing is asked of them. */
const owner: Person = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test', AWS_SESSION_TOKEN: '' }

/** As kubectl runs it: the scripts of a Python environment that was moved do not run. */
function writeAws(directory: string): void {
  const file = join(directory, 'bin', 'aws')
  writeFileSync(file, `#!/bin/sh\nexec ${awsCommand.map((word) => `'${word}'`).join(' ')} "$@"\n`)
  chmodSync(file, 0o700)
}

/** A role that may do what the statement says, by default everything, and the credentials of it. */
export async function createPerson(account: Account, name: string, may: object = everything): Promise<Person> {
  const trust = statement({ Principal: { AWS: `arn:aws:iam::${accountId}:root` }, Action: 'sts:AssumeRole' })
  await aws(account, ['iam', 'create-role', `--role-name=${name}`, `--assume-role-policy-document=${trust}`])
  const policy = [`--role-name=${name}`, '--policy-name=may', `--policy-document=${statement(may)}`]
  await aws(account, ['iam', 'put-role-policy', ...policy])
  const role = [`--role-arn=arn:aws:iam::${accountId}:role/${name}`, '--role-session-name=me']
  const { Credentials: made } = (await aws(account, ['sts', 'assume-role', ...role])) as {
    readonly Credentials: Readonly<Record<'AccessKeyId' | 'SecretAccessKey' | 'SessionToken', string>>
  }
  return {
    AWS_ACCESS_KEY_ID: made.AccessKeyId,
    AWS_SECRET_ACCESS_KEY: made.SecretAccessKey,
    AWS_SESSION_TOKEN: made.SessionToken,
  }
}

const everything = { Action: '*', Resource: '*' }

function statement(fields: object): string {
  return JSON.stringify({ Version: '2012-10-17', Statement: [{ Effect: 'Allow', ...fields }] })
}

/** What the AWS command line answers an administrator. Throws what it refuses with. */
export async function aws(account: Account, args: readonly string[], person = account.admin): Promise<unknown> {
  const { code, stdout, stderr } = await runAws(account, args, person)
  if (code !== 0) throw new Error(`aws ${args.slice(0, 2).join(' ')}: ${stderr.trim()}`)
  return stdout.trim() === '' ? undefined : JSON.parse(stdout)
}

export function runAws(account: Account, args: readonly string[], person = account.admin): Promise<Ended> {
  const [python, ...start] = awsCommand
  // For queues it would go to an address of its own.
  const place = ['--output=json', `--endpoint-url=${account.ministack.endpoint}`]
  return runProgram(python, [...start, ...args, ...place], { env: environmentOf(account, person) })
}

/** For programs that call the emulator as this person. */
function environmentOf({ ministack }: Account, person: Person): Readonly<Record<string, string | undefined>> {
  return {
    ...person,
    AWS_ENDPOINT_URL: ministack.endpoint,
    AWS_REGION: region,
    AWS_DEFAULT_REGION: region,
    AWS_CA_BUNDLE: ministack.authorityFile,
    NODE_EXTRA_CA_CERTS: ministack.authorityFile,
    CDK_DISABLE_CLI_TELEMETRY: 'true',
  }
}

/** The CDK command line, by the administrator. */
export function runCdk(account: Account, args: readonly string[], cwd: string): Promise<Ended> {
  const file = join(root, 'node_modules', 'aws-cdk', 'bin', 'cdk')
  const quiet = ['--no-notices', '--no-version-reporting']
  return runProgram(process.execPath, [file, ...args, ...quiet], { cwd, env: environmentOf(account, account.admin) })
}
