// Reads barcodes where the browser cannot. Loaded when it is needed.
import { BarcodeDetector, prepareZXingModule } from 'barcode-detector/ponyfill';
import wasm from 'decoder.wasm';

prepareZXingModule({
  overrides: { locateFile: () => new URL(wasm, import.meta.url).href },
});

export { BarcodeDetector };
