import { CreateSecretCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { PutParameterCommand, SSMClient } from '@aws-sdk/client-ssm'
import { describe } from 'vitest'
import { createAwsVault } from '../../shared/adapters/aws/vault/aws-vault.ts'
import { testCredentials } from '../../shared/testing-aws/dynalite.ts'
import { vaultContract } from '../contract/vault.contract.ts'
import { onPeer } from './endpoints.ts'
import { motoOfQueues } from './moto.ts'

const { endpoint, ...options } = onPeer(motoOfQueues)

describe('Secrets Manager and Parameter Store (moto)', options, () => {
  vaultContract(() => {
    const client = { endpoint, region: 'us-east-1', credentials: testCredentials }
    return {
      vault: createAwsVault(client),
      put: async (entry, text) => {
        if ('parameter' in entry)
          await new SSMClient(client).send(
            new PutParameterCommand({ Name: entry.parameter, Value: text, Type: 'SecureString' }),
          )
        else
          await new SecretsManagerClient(client).send(
            new CreateSecretCommand({ Name: entry.secretsManager, SecretString: text }),
          )
      },
    }
  })
})
