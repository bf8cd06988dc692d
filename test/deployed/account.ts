import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../support/control-plane-process.ts'
import { runProgram, type Ended } from '../support/program.ts'
import { until } from './steps.ts'
import { accountId, awsCommand, region, type Ministack } from './ministack.ts'

/** An account with two people in it. */
export interface Account {
  /** Left out: AWS itself. */
  readonly ministack?: Ministack
  readonly id: string
  readonly region: string
  readonly adminArn: string
  /** May do everything, and is an administrator of the control planes. */
  readonly admin: Person
  /** May do everything in AWS, and is nobody to the control planes. */
  readonly stranger: Person
}

/** The variables with the credentials of somebody's role. None: those that this process has. */
export type Person = Readonly<
  Partial<Record<'AWS_ACCESS_KEY_ID' | 'AWS_SECRET_ACCESS_KEY' | 'AWS_SESSION_TOKEN', string>>
>

/** In the emulator. */
export async function openAccount(ministack: Ministack, directory: string): Promise<Account> {
  const adminArn = `arn:aws:iam::${accountId}:role/Admin`
  const first = { ministack, id: accountId, region, adminArn, admin: owner, stranger: owner }
  writeAws(directory)
  const admin = await createPerson(first, 'Admin')
  const stranger = await createPerson(first, 'Stranger')
  return { ...first, admin, stranger }
}

/** Who has the account: nothing is asked of them. */
const owner: Person = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test', AWS_SESSION_TOKEN: '' }

/** As kubectl runs it: the scripts of a Python environment that was moved do not run. */
function writeAws(directory: string): void {
  const file = join(directory, 'bin', 'aws')
  // For queues the command line would go to an address of its own.
  const place = 'case "$1" in sqs) set -- "$@" --endpoint-url="$AWS_ENDPOINT_URL";; esac'
  writeFileSync(file, `#!/bin/sh\n${place}\nexec ${awsCommand.map((word) => `'${word}'`).join(' ')} "$@"\n`)
  chmodSync(file, 0o700)
}

/** A role that may do what the statements say, by default everything, and the credentials of it. */
export async function createPerson(
  account: Account,
  name: string,
  may: object | readonly object[] = everything,
): Promise<Person> {
  const trust = documentOf({ Principal: { AWS: `arn:aws:iam::${account.id}:root` }, Action: 'sts:AssumeRole' })
  await aws(account, ['iam', 'create-role', `--role-name=${name}`, `--assume-role-policy-document=${trust}`])
  const policy = [`--role-name=${name}`, '--policy-name=may', `--policy-document=${documentOf(may)}`]
  await aws(account, ['iam', 'put-role-policy', ...policy])
  const role = [`--role-arn=arn:aws:iam::${account.id}:role/${name}`, '--role-session-name=me']
  // On AWS a new role may be assumed some seconds later.
  const { stdout } = await until(
    () => runAws(account, ['sts', 'assume-role', ...role]),
    ({ code }) => code === 0,
  )
  const { Credentials: made } = JSON.parse(stdout) as {
    readonly Credentials: Readonly<Record<'AccessKeyId' | 'SecretAccessKey' | 'SessionToken', string>>
  }
  return {
    AWS_ACCESS_KEY_ID: made.AccessKeyId,
    AWS_SECRET_ACCESS_KEY: made.SecretAccessKey,
    AWS_SESSION_TOKEN: made.SessionToken,
  }
}

const everything = { Action: '*', Resource: '*' }

function documentOf(statements: object | readonly object[]): string {
  const Statement = [statements].flat().map((fields: object) => ({ Effect: 'Allow', ...fields }))
  return JSON.stringify({ Version: '2012-10-17', Statement })
}

/** What the AWS command line answers an administrator. Throws what it refuses with. */
export async function aws(account: Account, args: readonly string[], person = account.admin): Promise<unknown> {
  const { code, stdout, stderr } = await runAws(account, args, person)
  if (code !== 0) throw new Error(`aws ${args.slice(0, 2).join(' ')}: ${stderr.trim()}`)
  return stdout.trim() === '' ? undefined : JSON.parse(stdout)
}

export function runAws(account: Account, args: readonly string[], person = account.admin): Promise<Ended> {
  const env = environmentOf(account, person)
  if (account.ministack === undefined) return runProgram('aws', [...args, '--output=json'], { env })
  const [python, ...start] = awsCommand
  // For queues it would go to an address of its own.
  const place = ['--output=json', `--endpoint-url=${account.ministack.endpoint}`]
  return runProgram(python, [...start, ...args, ...place], { env })
}

/** For programs that call the account as this person. */
function environmentOf(account: Account, person: Person): Readonly<Record<string, string | undefined>> {
  const common = {
    ...person,
    AWS_REGION: account.region,
    AWS_DEFAULT_REGION: account.region,
    CDK_DISABLE_CLI_TELEMETRY: 'true',
  }
  if (account.ministack === undefined) return common
  const { endpoint, authorityFile } = account.ministack
  return {
    ...common,
    AWS_ENDPOINT_URL: endpoint,
    AWS_CA_BUNDLE: authorityFile,
    NODE_EXTRA_CA_CERTS: authorityFile,
  }
}

/** A command of the repository, by the administrator. */
export function runCommand(account: Account, args: readonly string[], cwd: string): Promise<Ended> {
  return runProgram(process.execPath, args, { cwd, env: environmentOf(account, account.admin) })
}

/** Lines for a shell that has the AWS command line, by the administrator; the first one that fails ends it. */
export function runShell(account: Account, lines: string): Promise<Ended> {
  return runProgram('sh', ['-ec', lines], { env: environmentOf(account, account.admin) })
}

/** The CDK command line, by the administrator. */
export function runCdk(account: Account, args: readonly string[], cwd: string): Promise<Ended> {
  const file = join(root, 'node_modules', 'aws-cdk', 'bin', 'cdk')
  const quiet = ['--no-notices', '--no-version-reporting']
  return runProgram(process.execPath, [file, ...args, ...quiet], { cwd, env: environmentOf(account, account.admin) })
}
