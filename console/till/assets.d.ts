// stack/buildConsole.ts says which file this is; the value is its address, relative to the scripts.
declare module 'decoder.wasm' {
  const address: string;
  export default address;
}
