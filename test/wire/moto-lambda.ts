/**
 * What moto knows of the functions and mappings that CloudFormation made in it: by plain HTTP, the clients for that are
 * not ours.
 */
export interface DeployedFunction {
  readonly FunctionName: string
  readonly FunctionArn: string
  readonly Description: string
  readonly Timeout: number
  readonly Environment: { readonly Variables: Readonly<Record<string, string>> }
}

export interface DeployedMapping {
  readonly UUID: string
  readonly EventSourceArn: string
  readonly FunctionArn: string
  readonly BatchSize: number
}

export async function functionsIn(endpoint: string): Promise<readonly DeployedFunction[]> {
  const answer = await ask(endpoint, 'lambda', '/2015-03-31/functions')
  return (answer as { readonly Functions: readonly DeployedFunction[] }).Functions
}

export async function mappingsIn(endpoint: string): Promise<readonly DeployedMapping[]> {
  const answer = await ask(endpoint, 'lambda', '/2015-03-31/event-source-mappings/')
  return (answer as { readonly EventSourceMappings: readonly DeployedMapping[] }).EventSourceMappings
}

/** moto would hand messages to containers. */
export async function disable(endpoint: string, { UUID: id }: DeployedMapping): Promise<void> {
  await ask(endpoint, 'lambda', `/2015-03-31/event-source-mappings/${id}`, { method: 'PUT', body: '{"Enabled":false}' })
}

/** The functions that the methods of all REST APIs are answered by. */
export async function integrationsIn(endpoint: string): Promise<readonly string[]> {
  const { item: apis } = (await ask(endpoint, 'apigateway', '/restapis')) as {
    readonly item: readonly { id: string }[]
  }
  const all = apis.map(({ id }) => ask(endpoint, 'apigateway', `/restapis/${id}/resources?embed=methods`))
  const uris = [...JSON.stringify(await Promise.all(all)).matchAll(/functions\/(arn:aws:lambda[^/"]+)\//g)]
  return uris.map(([, arn = '']) => arn)
}

async function ask(endpoint: string, service: string, path: string, init: RequestInit = {}): Promise<unknown> {
  const credential = `test/20260101/us-east-1/${service}/aws4_request`
  // By this moto tells which service is meant; it checks no signatures.
  const Authorization = `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=host, Signature=none`
  const response = await fetch(new URL(path, endpoint), { ...init, headers: { Authorization } })
  if (!response.ok) throw new Error(`moto: ${path}: ${response.status}`)
  return response.json()
}
