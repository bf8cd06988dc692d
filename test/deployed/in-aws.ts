import { aws, createPerson, runAws, type Account } from './account.ts'
import { tenantName } from './own.ts'
import { personName } from './secrets.ts'
import { expect, until } from './steps.ts'

/** What no emulator answers. The run prints these, and what of it they are about. */
export const questions = [
  'May another role wake a held message by its receipt handle? A change of an object that waits for a minute or less must be carried out at once: aws logs filter-log-events of the relay has no "end a hold".',
  'How does Lambda poll a FIFO queue after a batch that failed in part? An object that fails must not hold up the others of its batch: look at the age of the oldest message.',
  'Does API Gateway pass a stream on as it comes? kubectl get --watch must show an edit within a second, not when the watch ends.',
] as const

const strangerName = 'SetpointDeployedStranger'

/** AWS itself, with the credentials of this process, and a role besides that may do nothing. */
export function openAws(region: string): Promise<Account> {
  return openAs({ id: '', region, adminArn: '', admin: {}, stranger: {} })
}

/** With the credentials of its administrator, who finds out whose they are. */
async function openAs(given: Account): Promise<Account> {
  const { Account: id, Arn } = (await aws(given, ['sts', 'get-caller-identity'])) as {
    readonly Account: string
    readonly Arn: string
  }
  const account = { ...given, id, adminArn: await principalOf(given, Arn) }
  const nothing = { Effect: 'Deny', Action: '*', Resource: '*' }
  return { ...account, stranger: await createPerson(account, strangerName, nothing) }
}

/** Of a session its role, with the path that its name leaves out. */
async function principalOf(account: Account, arn: string): Promise<string> {
  const [, name] = /:assumed-role\/([^/]+)\//.exec(arn) ?? []
  if (name === undefined) return arn
  const { Role } = (await aws(account, ['iam', 'get-role', `--role-name=${name}`])) as {
    readonly Role: { readonly Arn: string }
  }
  return Role.Arn
}

/** What an account is asked ahead of the run and after it, asked of the emulator. */
export async function rehearseAccount(account: Account): Promise<void> {
  const opened = await openAs({ ...account, id: '', adminArn: '' })
  expect(opened.adminArn === account.adminArn && opened.id === account.id, `${opened.adminArn} in ${opened.id}`)
  const { code, stderr } = await runAws(opened, ['sqs', 'list-queues'], opened.stranger)
  expect(code !== 0 && stderr.includes('AccessDenied'), `the stranger was not refused: ${stderr}`)
  await cleanUp(opened, ['Never-deployed'])
}

/** Whatever became of the run: the stacks go with what they have, and so does the role. */
export async function cleanUp(account: Account, stacks: readonly string[]): Promise<void> {
  for (const stack of stacks) await runAws(account, ['cloudformation', 'delete-stack', `--stack-name=${stack}`])
  for (const stack of stacks) {
    const { code } = await runAws(account, ['cloudformation', 'wait', 'stack-delete-complete', `--stack-name=${stack}`])
    expect(code === 0, `the stack ${stack} is left: aws cloudformation describe-stack-events --stack-name=${stack}`)
  }
  for (const name of [strangerName, personName])
    await runAws(account, ['iam', 'delete-role-policy', `--role-name=${name}`, '--policy-name=may'])
  for (const name of [strangerName, tenantName, personName])
    await until(
      () => runAws(account, ['iam', 'delete-role', `--role-name=${name}`]),
      ({ code, stderr }) => code === 0 || stderr.includes('NoSuchEntity'),
    )
}
