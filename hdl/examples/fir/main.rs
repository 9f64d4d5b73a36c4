//! Writes the filter of `docs/hdl.md` as Verilog:
//!
//!     cargo run -p hermes-hdl --example fir > fir_8.v

mod filter;

fn main() {
    match hermes_hdl::emit::emit(&filter::Fir::<3>::default(), "fir_8") {
        Ok(design) => print!("{}", design.verilog()),
        Err(error) => {
            eprintln!("fir: {error}");
            std::process::exit(1);
        }
    }
}
