import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { adaptations } from './adaptations.ts'
import { adaptAssembly } from './assembly.ts'
import { cleanUp, openAws, questions } from './in-aws.ts'

/** `SETPOINT_AWS=… npm run deployed`, as far as it goes without an account: what it asks the AWS command line for. */
let directory: ReturnType<typeof temporaryDirectory>
const path = process.env['PATH']

beforeEach(() => {
  directory = temporaryDirectory('in-aws')
  answers(sessionOfAdmin)
  process.env['PATH'] = `${directory.path}:${path ?? ''}`
})
afterEach(() => {
  process.env['PATH'] = path
  directory[Symbol.dispose]()
})

const sessionOfAdmin = {
  'sts get-caller-identity': { Account: '111122223333', Arn: 'arn:aws:sts::111122223333:assumed-role/Admin/me' },
  'iam get-role': { Role: { Arn: 'arn:aws:iam::111122223333:role/people/Admin' } },
  'sts assume-role': { Credentials: { AccessKeyId: 'AK', SecretAccessKey: 'SK', SessionToken: 'ST' } },
}

/** An AWS command line that says this, and notes what it is asked for. */
function answers(given: Readonly<Record<string, object>>): void {
  const cases = Object.entries(given).map(([what, answer]) => `'${what}') echo '${JSON.stringify(answer)}';;`)
  const note = `echo "$AWS_REGION $*" >>'${join(directory.path, 'log')}'`
  const file = join(directory.path, 'aws')
  writeFileSync(file, `#!/bin/sh\n${note}\ncase "$1 $2" in\n${cases.join('\n')}\nesac\n`)
  chmodSync(file, 0o700)
}

function asked(): readonly string[] {
  const log = join(directory.path, 'log')
  return existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []
}

it('the administrator is the role of the session, with the path that its name leaves out', async () => {
  const account = await openAws('eu-west-1')
  expect(account).toMatchObject({
    id: '111122223333',
    region: 'eu-west-1',
    adminArn: 'arn:aws:iam::111122223333:role/people/Admin',
    admin: {},
    stranger: { AWS_ACCESS_KEY_ID: 'AK', AWS_SECRET_ACCESS_KEY: 'SK', AWS_SESSION_TOKEN: 'ST' },
  })
  expect(account.ministack).toBeUndefined()
})

it('a user is the administrator himself', async () => {
  const Arn = 'arn:aws:iam::111122223333:user/me'
  answers({ ...sessionOfAdmin, 'sts get-caller-identity': { Account: '111122223333', Arn } })
  expect((await openAws('eu-west-1')).adminArn).toBe(Arn)
})

it('goes to AWS, in the Region that was named, and the other role may do nothing', async () => {
  await openAws('eu-west-1')
  const all = asked()
  expect(all.every((line) => line.startsWith('eu-west-1 ') && !line.includes('--endpoint-url'))).toBe(true)
  const policy = all.find((line) => line.includes('put-role-policy')) ?? ''
  expect(policy).toContain('"Effect":"Deny","Action":"*","Resource":"*"')
  expect(all.find((line) => line.includes('create-role'))).toContain('arn:aws:iam::111122223333:root')
})

it('takes away both stacks and the role, and waits until they are gone', async () => {
  const account = await openAws('eu-west-1')
  const before = asked().length
  await cleanUp(account, ['Setpoint-deployed', 'Own'])
  const words = asked()
    .slice(before)
    .map((line) => line.split(' ').slice(1, 4).join(' '))
  expect(words).toEqual([
    'cloudformation delete-stack --stack-name=Setpoint-deployed',
    'cloudformation delete-stack --stack-name=Own',
    'cloudformation wait stack-delete-complete',
    'cloudformation wait stack-delete-complete',
    'iam delete-role-policy --role-name=SetpointDeployedStranger',
    'iam delete-role-policy --role-name=SetpointDeployedVault',
    'iam delete-role --role-name=SetpointDeployedStranger',
    'iam delete-role --role-name=SetpointDeployedTenant',
    'iam delete-role --role-name=SetpointDeployedVault',
  ])
})

it('deploys the template as it is synthesized', () => {
  const from = join(directory.path, 'from')
  mkdirSync(from)
  const asset = { files: { old: { source: { path: 'Own.template.json' } } } }
  const Resources = Object.fromEntries(adaptations.map(({ name }) => [name, { Type: 'AWS::XRay::SamplingRule' }]))
  const template = JSON.stringify({ Resources })
  for (const [name, text] of [
    ['Own.template.json', template],
    ['Own.assets.json', JSON.stringify(asset)],
    ['manifest.json', '{}'],
  ] as const)
    writeFileSync(join(from, name), text)
  const to = adaptAssembly({}, [from, join(directory.path, 'to')])
  expect(readFileSync(join(to, 'Own.template.json'), 'utf8')).toBe(template)
})

it('ends with the three questions that only an account answers', () => {
  expect(questions).toHaveLength(3)
})
