//! Kernels that are built, and sources that are none.

use super::*;

#[test]
fn assembly_and_its_errors() {
    let folder = tempfile::tempdir().unwrap();
    let (source, output) = (folder.path().join("k.S"), folder.path().join("k.elf"));
    std::fs::write(&source, ".include \"packet.inc\"\n.globl kernel\nkernel: drop 99\n").unwrap();
    build(&source, RegisterClass::Rv32i, &output).unwrap();
    let kernel = Kernel::read(&output).unwrap();
    assert_eq!((kernel.entry, kernel.registers), (0x1000, RegisterClass::Rv32i));
    assert_eq!(kernel.symbols.len(), 1);
    assert_eq!(kernel.symbol("kernel").unwrap().address, 0x1000);

    let fails = |text: &str, expected: &str| {
        let output = folder.path().join("none.elf");
        std::fs::write(&source, text).unwrap();
        let error = build(&source, RegisterClass::Rv32e, &output).unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains("k.S"), "{error}");
        assert!(!output.exists());
    };
    fails("kernel: no-such-instruction\n", "unrecognized opcode");
    fails("kernel: mv t6, a0\n", "illegal operands");
    fails("start: ret\n", "kernel");
    std::fs::write(&source, "\u{feff}.globl kernel\nkernel: ret\n").unwrap();
    let error = anyhow::Error::from(build(&source, RegisterClass::Rv32e, &output).unwrap_err());
    assert!(format!("{error:#}").ends_with("k.S: begins with a byte order mark; expected UTF-8 without one"));
}

/// Kernels for one memory: each lies at its address with all that it has, and finds its data
/// there.
#[test]
fn a_kernel_lies_where_it_is_to() {
    let folder = tempfile::tempdir().unwrap();
    let (assembly, c) = (folder.path().join("k.S"), folder.path().join("k.c"));
    let text =
        ".globl kernel\nkernel: lla a1, x\nlui a2, %hi(x)\naddi a2, a2, %lo(x)\nret\n.data\nx: .word 1\n";
    std::fs::write(&assembly, text).unwrap();
    let text = "#include <hermes.h>\nuint32_t x = 7;\nconst uint32_t *at = &x;\n\
                uint32_t kernel(uint32_t p, struct packet_slot *s, void *a) { return *at + x; }\n";
    std::fs::write(&c, text).unwrap();
    let output = folder.path().join("k.elf");
    for (address, source) in [
        (0x40, &c),
        (0x1000, &assembly),
        (0x2_0040, &c),
        (0x8000_0000, &assembly),
        (*KERNEL_ADDRESSES.end(), &c),
    ] {
        let options = BuildOptions { address: Some(address), ..BuildOptions::new(RegisterClass::Rv32i) };
        build_with(std::slice::from_ref(source), &options, &output).unwrap();
        let kernel = Kernel::read(&output).unwrap();
        let x = kernel.symbol("x").unwrap().address;
        let first = kernel.segments.first().unwrap().address;
        assert_eq!(first, address);
        let inside = address..=address + (MOST_KERNEL_BYTES - 1);
        assert!(inside.contains(&(kernel.end() - 1)) && inside.contains(&kernel.entry));
        match source == &c {
            true => assert_eq!(kernel.word(kernel.symbol("at").unwrap().address), Some(x)),
            false => assert_eq!(kernel.entry, address),
        }
    }
    std::fs::remove_file(&output).unwrap();
    for address in [0, 1, 0x3f, 0x1004, KERNEL_ADDRESSES.end() + 64, u32::MAX] {
        let options = BuildOptions { address: Some(address), ..BuildOptions::new(RegisterClass::Rv32i) };
        let error = build_with(std::slice::from_ref(&assembly), &options, &output).unwrap_err().to_string();
        let expected = "expected a multiple of 64, 0x40 to 0xfffb1000";
        assert_eq!(error, format!("--at {address:#x}: {expected}"));
        assert!(!output.exists());
    }
}

/// A source that is built in has no file of its own; its temporary one is not in the result.
#[test]
fn a_built_in_source_gives_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let source = ".include \"packet.inc\"\n.globl kernel\nkernel: drop 7\n";
    let built = ["a.elf", "b.elf"].map(|name| {
        let output = folder.path().join(name);
        build_source("k.S", source, RegisterClass::Rv32e, &output).unwrap();
        std::fs::read(output).unwrap()
    });
    assert!(built[0] == built[1]);
    let name = WORK_NAME.as_bytes();
    assert!(built[0].windows(name.len()).any(|window| window == name), "the source has no name");
}

/// C and assembly together, with include folders, macros and an optimization level.
#[test]
fn several_sources() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::create_dir(path("include")).unwrap();
    std::fs::write(path("include/mine.h"), "uint32_t next(uint32_t);\n").unwrap();
    std::fs::write(path("include/mine.inc"), ".macro step\naddi a0, a0, STEP\n.endm\n").unwrap();
    let c = "#include <hermes.h>\n#include <mine.h>\nuint32_t extra = EXTRA;\n\
             uint32_t kernel(uint32_t p, struct packet_slot *s, void *a) { return next(p) + extra; }\n";
    std::fs::write(path("k.c"), c).unwrap();
    std::fs::write(path("next.S"), ".include \"mine.inc\"\n.globl next\nnext: step\nret\n").unwrap();
    let sources = [path("k.c"), path("next.S")];
    let defines = |extra: &str| vec!["STEP=0x10".to_string(), format!("EXTRA{extra}")];
    let options = |extra: &str| BuildOptions {
        include: vec![path("include")],
        defines: defines(extra),
        optimization: "0".to_string(),
        atomics: true,
        aes: true,
        ..BuildOptions::new(RegisterClass::Rv32e)
    };
    build_with(&sources, &options(""), &path("k.elf")).unwrap();
    let kernel = Kernel::read(&path("k.elf")).unwrap();
    let extra = kernel.symbol("extra").unwrap();
    assert_eq!((extra.size, extra.is_function, kernel.word(extra.address)), (4, false, Some(1)));
    let arch = kernel.arch.unwrap().to_string();
    assert!(arch.starts_with("rv32ema") && arch.ends_with("_zknd_zkne"), "{arch}");
    let error = build_with(&sources[1..], &options("=K"), &path("none.elf")).unwrap_err().to_string();
    assert!(error.contains("-D EXTRA=K: ") && error.contains("next.S: expected a number"), "{error}");
    let error = build_with(&sources[..1], &options(""), &path("none.elf")).unwrap_err().to_string();
    assert!(error.contains("undefined reference to `next'") && !path("none.elf").exists(), "{error}");
}

#[test]
fn headers_are_those_of_a_build() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new/headers");
    crate::kernel::write_headers(&path).unwrap();
    crate::kernel::write_headers(&path).unwrap();
    assert_eq!(std::fs::read_to_string(path.join("hermes.h")).unwrap(), crate::kernel::HERMES_H);
    for name in ["packet.inc", "string.h", "hermes_shmem.h", "kernel.ld"] {
        assert!(path.join(name).is_file(), "{name}");
    }
    let error = anyhow::Error::from(crate::kernel::write_headers(&path.join("hermes.h")).unwrap_err());
    assert!(format!("{error:#}").contains("hermes.h: File exists"), "{error:#}");
}

/// Clang, whatever its version, if there is one; otherwise the error says what is missing.
#[test]
fn clang() {
    let folder = tempfile::tempdir().unwrap();
    let (source, output) = (folder.path().join("k.c"), folder.path().join("k.elf"));
    let text = "#include <hermes.h>\n#include <string.h>\n\
                uint32_t kernel(uint32_t p, struct packet_slot *s, uint64_t *a) { memcpy(a, s, p); return *a / p; }\n";
    std::fs::write(&source, text).unwrap();
    let options = BuildOptions { compiler: Compiler::Clang, ..BuildOptions::new(RegisterClass::Rv32i) };
    let built = build_with(&[source], &options, &output);
    match newest_program("clang") {
        Some(program) => {
            built.unwrap_or_else(|error| panic!("{program}: {error}"));
            assert_eq!(Kernel::read(&output).unwrap().registers, RegisterClass::Rv32i);
        }
        None => {
            let text = built.unwrap_err().to_string();
            assert!(text.contains("install the package clang"), "{text}");
        }
    }
}

/// The output is none of the files that the sources include.
#[test]
fn what_is_included_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("a.h"), "#define A 1\n").unwrap();
    std::fs::write(path("b.inc"), ".set b, 1\n").unwrap();
    std::fs::write(path("c.bin"), "bytes").unwrap();
    let c = "#include <hermes.h>\n#include \"a.h\"\nuint32_t kernel(void) { return A; }\n";
    let binary = format!("{c}asm(\".incbin \\\"{}\\\"\");\n", path("c.bin").display());
    std::fs::write(path("k.c"), c).unwrap();
    std::fs::write(path("binary.c"), binary).unwrap();
    std::fs::write(path("k.S"), ".include \"b.inc\"\n.globl kernel\nkernel: li a0, b\nret\n").unwrap();
    let mut compilers = vec![Compiler::Gcc];
    compilers.extend(newest_program("clang").map(|_| Compiler::Clang));
    for (source, output) in
        [("k.c", "a.h"), ("k.S", "b.inc"), ("binary.c", "c.bin"), ("k.c", "k.c"), ("k.S", "k.S")]
    {
        for compiler in &compilers {
            // The assembler in Clang does not tell.
            if output == "c.bin" && *compiler == Compiler::Clang {
                continue;
            }
            let before = std::fs::read(path(output)).unwrap();
            let options = BuildOptions { compiler: *compiler, ..BuildOptions::new(RegisterClass::Rv32i) };
            let error = build_with(&[path(source)], &options, &path(output)).unwrap_err().to_string();
            assert!(error.contains("would overwrite") && error.contains(output), "{error}");
            assert_eq!(std::fs::read(path(output)).unwrap(), before, "{output}");
        }
    }
}

#[test]
fn sources_that_cannot_be_built() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("k.elf");
    let source = folder.path().join("k.rs");
    let error = anyhow::Error::from(build(&source, RegisterClass::Rv32i, &output).unwrap_err());
    assert!(format!("{error:#}").contains("k.rs: No such file"), "{error:#}");
    std::fs::write(&source, "").unwrap();
    let error = build(&source, RegisterClass::Rv32i, &output).unwrap_err().to_string();
    assert!(error.contains("expected a name that ends with .S, .s or .c"), "{error}");
}
