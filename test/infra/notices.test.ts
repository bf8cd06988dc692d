import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { writeBundle } from '../../infra/bundling/bundle.ts'
import { thirdPartyNotices } from '../../infra/bundling/notices.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

it('a bundle has beside it the licences of all packages that are in it, each text once', () => {
  using scratch = temporaryDirectory('notices')
  writeBundle('functions/relay.ts', 'export const reconcilers = []', scratch.path)
  const notices = readFileSync(join(scratch.path, 'THIRD-PARTY-NOTICES.txt'), 'utf8')
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    dependencies: Readonly<Record<string, string>>
  }
  for (const name of ['@aws-sdk/client-dynamodb', '@aws-sdk/client-sqs'])
    expect(notices).toContain(`${name} ${dependencies[name]} (`)
  expect(notices.match(/TERMS AND CONDITIONS FOR USE, REPRODUCTION/g)?.length).toBeLessThan(10)
  expect(notices.length).toBeLessThan(200_000)
  expect(notices).not.toContain('aws-cdk-lib')
})

it('files of ours need no notice, and a package without a licence ends the bundling', () => {
  expect(thirdPartyNotices(['shared/index.ts', '../elsewhere/a.js'])).toBe(
    'This function has code of these packages.\n\n\n',
  )
  expect(() => thirdPartyNotices(['node_modules/nothing-of-this-name/a.js'])).toThrow('nothing-of-this-name')
})
