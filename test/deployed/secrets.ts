import { aws, createPerson, runAws, type Account } from './account.ts'
import { resourcesOf, type Plane } from './plane.ts'
import { expect, step, until } from './steps.ts'

/** Secrets of AWS: the run of a reconciler makes one, by a role whose rights are bound to tags. */
export async function keepSecrets(account: Account, plane: Plane): Promise<void> {
  await step('keeps a secret in Secrets Manager, with the tags that its policy asks for', () => keepOne(account, plane))
  await step('may make, overwrite and remove secrets that have its tag, and no others', async () => {
    const role = await createPerson(account, personName, await vaultStatements(account, plane.stack))
    const tryAll = (tries: readonly Try[]): Promise<unknown> =>
      Promise.all(
        tries.map(async ([what, isAllowed, args]) => {
          const { code, stderr } = await runAws(account, args, role)
          const isDenied = code !== 0 && stderr.includes('AccessDenied')
          expect(isAllowed ? code === 0 : isDenied, `${what} was ${code === 0 ? 'allowed' : `refused: ${stderr}`}`)
        }),
      )
    await aws(account, onSecret('create-secret', names.strange, text, tagsOf('another')))
    for (const round of rounds) await tryAll(round)
    await aws(account, ['iam', 'delete-role-policy', `--role-name=${personName}`, '--policy-name=may'])
    await aws(account, ['iam', 'delete-role', `--role-name=${personName}`])
    await aws(account, onSecret('delete-secret', names.strange, atOnce))
  })
}

/** Has what the function has of rights to secrets. */
export const personName = 'SetpointDeployedVault'

async function keepOne(account: Account, { kubectl }: Plane): Promise<void> {
  const spec = { to: 7, keepIn: { secretsManager: { name: 'made/default/kept' } } }
  const metadata = { name: 'keeper' }
  await kubectl.apply(JSON.stringify({ apiVersion: 'example.dev/v1', kind: 'Counter', metadata, spec }))
  const found = await until(
    () => aws(account, ['secretsmanager', 'get-secret-value', '--secret-id=made/default/kept']),
    (seen) => JSON.stringify(seen).includes('counted'),
  )
  expect(JSON.parse((found as { SecretString: string }).SecretString).counted === '7', JSON.stringify(found))
  const { Tags } = (await aws(account, ['secretsmanager', 'describe-secret', '--secret-id=made/default/kept'])) as {
    readonly Tags: readonly { readonly Key: string; readonly Value: string }[]
  }
  expect(
    Tags.some(({ Key, Value }) => Key === 'setpoint:controller' && Value === 'counter'),
    JSON.stringify(Tags),
  )
  await kubectl.ok('delete counter keeper --wait=false')
  await until(
    () => runAws(account, ['secretsmanager', 'describe-secret', '--secret-id=made/default/kept']),
    ({ stderr }) => stderr.includes('ResourceNotFound'),
  )
}

/** Those of the role of the function that runs the reconcilers, as they were deployed. */
async function vaultStatements(account: Account, stack: string): Promise<readonly object[]> {
  const all = await resourcesOf(account, stack)
  const roles = all.filter(({ ResourceType }) => ResourceType === 'AWS::IAM::Role')
  const statements = await Promise.all(roles.map(({ PhysicalResourceId }) => statementsOf(account, PhysicalResourceId)))
  const found = statements.flat().filter((one) => JSON.stringify(one).includes('secretsmanager:'))
  expect(found.length > 0, `no role of ${stack} may use Secrets Manager`)
  return found
}

async function statementsOf(account: Account, role: string): Promise<readonly object[]> {
  const name = `--role-name=${role}`
  const { PolicyNames } = (await aws(account, ['iam', 'list-role-policies', name])) as {
    readonly PolicyNames: readonly string[]
  }
  const all = await Promise.all(
    PolicyNames.map((policy) => aws(account, ['iam', 'get-role-policy', name, `--policy-name=${policy}`])),
  )
  return all.flatMap((one) => (one as Policy).PolicyDocument.Statement)
}

interface Policy {
  readonly PolicyDocument: { readonly Statement: readonly object[] }
}

const names = { tagged: 'made/default/tagged', strange: 'made/default/strange' } as const

function tagsOf(controller: string): string {
  return `--tags=Key=setpoint:controller,Value=${controller}`
}

type Try = readonly [what: string, isAllowed: boolean, args: readonly string[]]

function onSecret(verb: string, name: string, ...rest: readonly string[]): readonly string[] {
  const named = verb === 'create-secret' ? `--name=${name}` : `--secret-id=${name}`
  return ['secretsmanager', verb, named, ...rest]
}

const text = '--secret-string=a'
const atOnce = '--force-delete-without-recovery'

/** One after the other; those of a round together. */
const rounds: readonly (readonly Try[])[] = [
  [
    ['a secret without its tag', false, onSecret('create-secret', names.tagged, text)],
    ["a secret with another's tag", false, onSecret('create-secret', names.tagged, text, tagsOf('another'))],
    ['a secret elsewhere', false, onSecret('create-secret', 'elsewhere', text, tagsOf('counter'))],
  ],
  [['a secret with its tag', true, onSecret('create-secret', names.tagged, text, tagsOf('counter'))]],
  [
    ['a new value of its own', true, onSecret('put-secret-value', names.tagged, text)],
    ["a new value of another's", false, onSecret('put-secret-value', names.strange, text)],
    ["the end of another's", false, onSecret('delete-secret', names.strange, atOnce)],
  ],
  [['the end of its own', true, onSecret('delete-secret', names.tagged, atOnce)]],
]
