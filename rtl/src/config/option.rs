//! What an option of the array is: the one place from which the command line, the checks, the
//! documents and the configuration itself are made.

use super::Config;

/// The subsystem that an option belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subsystem {
    /// Numbers of cores, lanes and warps, and how warps are formed and issued.
    Array,
    /// The shader cores, with their caches.
    Core,
    /// The L2 and the channels to memory.
    L2,
    /// Ports by which packets come and leave.
    PacketPorts,
    /// Command processor with its harts.
    CommandProcessor,
    /// The thread spawner.
    Spawner,
    /// The network interface.
    Network,
    /// Network functions that share the array.
    Functions,
    /// Traces and counters that show how the array runs.
    Observation,
}

impl Subsystem {
    /// Its name in documents.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Array => "Array",
            Self::Core => "Cores",
            Self::L2 => "L2 and memory",
            Self::PacketPorts => "Packet ports",
            Self::CommandProcessor => "Command processor",
            Self::Spawner => "Thread spawner",
            Self::Network => "Network interface",
            Self::Functions => "Network functions",
            Self::Observation => "Observation",
        }
    }
}

/// The values that an option can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// 0 or 1: the part is not there, or it is.
    Switch,
    /// All numbers from the first to the last.
    Range(usize, usize),
    /// One of these numbers.
    Choices(&'static [usize]),
    /// Powers of two from the first to the last.
    Powers(usize, usize),
    /// The same, or 0 for none.
    NoneOrPowers(usize, usize),
}

impl Values {
    /// Whether `value` is one of them.
    #[must_use]
    pub fn contain(self, value: usize) -> bool {
        let power = |first, last| value.is_power_of_two() && (first..=last).contains(&value);
        match self {
            Self::Switch => value <= 1,
            Self::Range(first, last) => (first..=last).contains(&value),
            Self::Choices(choices) => choices.contains(&value),
            Self::Powers(first, last) => power(first, last),
            Self::NoneOrPowers(first, last) => value == 0 || power(first, last),
        }
    }

    /// In words: `1, 2, 4 or 8`.
    #[must_use]
    pub fn words(self) -> String {
        match self {
            Self::Switch => "true or false".to_string(),
            Self::Range(first, last) => format!("{first} to {last}"),
            Self::Choices(choices) => {
                let words: Vec<_> = choices.iter().map(usize::to_string).collect();
                match words.split_last() {
                    Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
                    _ => words.concat(),
                }
            }
            Self::Powers(first, last) => format!("a power of two, {first} to {last}"),
            Self::NoneOrPowers(first, last) => format!("0 or a power of two, {first} to {last}"),
        }
    }
}

/// An option of the array, as `options.rs` declares it. Values are numbers; those of a switch are 0
/// and 1.
#[derive(Clone, Copy, Debug)]
pub struct ArrayOption {
    /// Name of the option: that of the field of [`Config`], and with `-` for `_` of the option of
    /// commands, unless `flag` says otherwise.
    pub name: &'static str,
    /// The lines of its doc comment.
    pub lines: &'static [&'static str],
    /// Subsystem that the option belongs to.
    pub subsystem: Subsystem,
    /// The values that it can have, whatever the others are.
    pub values: Values,
    /// Value in an array that says nothing of the option; `None`: each array says it.
    pub usual: Option<usize>,
    /// Values in presets, by the names of these, where they are not the usual one.
    pub presets: &'static [(&'static str, usize)],
    /// The option of commands, if it is not made of the name; `Some("")`: there is none.
    pub flag: Option<&'static str>,
    /// Name of the value in the help of a command.
    pub value_name: &'static str,
    /// The option of the part that it is a property of: without that it has its usual value.
    pub of: Option<&'static str>,
    /// The option that it needs if it is not 0; as an option of commands it brings that, if that is
    /// a switch.
    pub needs: Option<&'static str>,
    /// Options with which it is not possible if it is not 0.
    pub excludes: &'static [&'static str],
    /// Values in the two configurations with many options whose Verilog is on record
    /// (`tests/golden`); `None`: that of the preset there.
    pub golden: [Option<usize>; 2],
    /// Function that gives the value in a configuration.
    pub get: fn(&Config) -> usize,
    /// Function that sets the value in a configuration.
    pub set: fn(&mut Config, usize),
}

impl ArrayOption {
    const fn new(subsystem: Subsystem, values: Values, usual: Option<usize>) -> Self {
        Self {
            name: "",
            lines: &[],
            subsystem,
            values,
            usual,
            presets: &[],
            flag: None,
            value_name: "NUMBER",
            of: None,
            needs: None,
            excludes: &[],
            golden: [None; 2],
            get: |_| 0,
            set: |_, _| {},
        }
    }

    /// A part that is there or not; usually it is not.
    pub(super) const fn switch(subsystem: Subsystem) -> Self {
        Self::new(subsystem, Values::Switch, Some(0))
    }

    /// A number that each array has.
    pub(super) const fn size(subsystem: Subsystem, values: Values) -> Self {
        Self::new(subsystem, values, None)
    }

    /// A number that usually is `usual`.
    pub(super) const fn number(subsystem: Subsystem, values: Values, usual: usize) -> Self {
        Self::new(subsystem, values, Some(usual))
    }

    pub(super) const fn presets(self, presets: &'static [(&'static str, usize)]) -> Self {
        Self { presets, ..self }
    }

    pub(super) const fn flag(self, flag: &'static str) -> Self {
        Self { flag: Some(flag), ..self }
    }

    pub(super) const fn value_name(self, value_name: &'static str) -> Self {
        Self { value_name, ..self }
    }

    pub(super) const fn of(self, part: &'static str) -> Self {
        Self { of: Some(part), ..self }
    }

    pub(super) const fn needs(self, part: &'static str) -> Self {
        Self { needs: Some(part), ..self }
    }

    pub(super) const fn excludes(self, others: &'static [&'static str]) -> Self {
        Self { excludes: others, ..self }
    }

    /// Its value in the first of the configurations on record.
    pub(super) const fn golden_first(self, value: usize) -> Self {
        Self { golden: [Some(value), self.golden[1]], ..self }
    }

    /// Its value in the second of them.
    pub(super) const fn golden_second(self, value: usize) -> Self {
        Self { golden: [self.golden[0], Some(value)], ..self }
    }

    /// The option called `name`: a field of [`Config`].
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Self> {
        super::OPTIONS.iter().find(|option| option.name == name)
    }

    /// Whether it is a part that is there or not.
    #[must_use]
    pub const fn is_switch(&self) -> bool {
        matches!(self.values, Values::Switch)
    }

    /// Its value in the preset called `name`.
    #[must_use]
    pub fn in_preset(&self, name: &str) -> usize {
        let own = self.presets.iter().find(|(preset, _)| *preset == name).map(|(_, value)| *value);
        own.or(self.usual).unwrap_or_default()
    }

    /// The option of commands without its dashes, if there is one.
    #[must_use]
    pub fn command_flag(&self) -> Option<String> {
        match self.flag {
            Some("") => None,
            Some(flag) => Some(flag.to_string()),
            None => Some(self.name.replace('_', "-")),
        }
    }

    /// What it is: its doc comment as one paragraph, without the last full stop.
    #[must_use]
    pub fn doc(&self) -> String {
        let text = self.lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
        text.strip_suffix('.').map(str::to_string).unwrap_or(text)
    }

    /// What it may be beside its values, in words that `named` gives to other options: `; needs
    /// --atomics`.
    #[must_use]
    pub fn conditions(&self, named: impl Fn(&str) -> String) -> String {
        let mut text = String::new();
        if let Some(part) = self.of {
            text += &format!("; only with {}", named(part));
        }
        if let Some(part) = self.needs {
            text += &format!("; needs {}", named(part));
        }
        // What excludes it is excluded by it.
        let from_there = super::OPTIONS.iter().filter(|other| other.excludes.contains(&self.name));
        let all: Vec<_> = self.excludes.iter().copied().chain(from_there.map(|other| other.name)).collect();
        if let Some((last, others)) = all.split_last() {
            let others: Vec<_> = others.iter().map(|other| named(other)).collect();
            let others = if others.is_empty() { String::new() } else { others.join(", ") + " or " };
            text += &format!("; not with {others}{}", named(last));
        }
        text
    }

    /// A value as configurations show it: `true`, `64`.
    #[must_use]
    pub fn shown(&self, value: usize) -> String {
        if self.is_switch() {
            (value != 0).to_string()
        } else {
            value.to_string()
        }
    }
}

/// The type of an option's field.
pub(super) trait OptionValue {
    fn number(self) -> usize;
    fn of(number: usize) -> Self;
}

impl OptionValue for usize {
    fn number(self) -> usize {
        self
    }

    fn of(number: usize) -> Self {
        number
    }
}

impl OptionValue for bool {
    fn number(self) -> usize {
        self.into()
    }

    fn of(number: usize) -> Self {
        number != 0
    }
}

/// Declares the options: the fields of [`Config`], [`OPTIONS`](super::OPTIONS), and of those that
/// are marked `(core control command spawn)`, or with some of these in this order, the fields of
/// [`CoreOptions`](super::CoreOptions), [`ControlOptions`](super::ControlOptions),
/// [`CommandOptions`](super::CommandOptions) and [`SpawnOptions`](super::SpawnOptions).
macro_rules! options {
    ($($(#[doc = $line:literal])+ $(($($mark:ident)+))? $name:ident: $type:ty = $option:expr;)+) => {
        /// Parameters of one array.
        #[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
        pub struct Config {
            /// Name of the preset that this configuration started from.
            pub preset: String,
            $($(#[doc = $line])+ pub $name: $type,)+
        }

        impl Config {
            /// A configuration in which every option has the value that `value` says.
            pub(super) fn with(preset: &str, value: impl Fn(&ArrayOption) -> usize) -> Self {
                let mut options = OPTIONS.iter().map(value);
                Self {
                    preset: preset.to_string(),
                    $($name: OptionValue::of(options.next().unwrap_or_default()),)+
                }
            }
        }

        /// Every option of the array, in the order of the fields of [`Config`].
        pub static OPTIONS: &[ArrayOption] = &[
            $(ArrayOption {
                name: stringify!($name),
                lines: &[$($line),+],
                get: |config| OptionValue::number(config.$name),
                set: |config, value| config.$name = OptionValue::of(value),
                ..$option
            }),+
        ];

        options! {
            @group core {
                /// The options of the array that reach a core: fields of [`Config`].
            } CoreOptions {} {} $($(#[doc = $line])+ ($($($mark)+)?) $name: $type;)+
        }
        options! {
            @group control {
                /// The options of the array that reach the control path: fields of [`Config`].
            } ControlOptions {} {} $($(#[doc = $line])+ ($($($mark)+)?) $name: $type;)+
        }
        options! {
            @group command {
                /// The options of the array that reach the command processor: fields of
                /// [`Config`].
            } CommandOptions {} {} $($(#[doc = $line])+ ($($($mark)+)?) $name: $type;)+
        }
        options! {
            @group spawn {
                /// The options of the array that reach the thread spawner: fields of [`Config`].
            } SpawnOptions {} {} $($(#[doc = $line])+ ($($($mark)+)?) $name: $type;)+
        }
    };
    // All options are sorted: those of the group are its fields.
    (@group $group:ident {$($about:tt)*} $struct:ident {$($fields:tt)*} {$($names:ident)*}) => {
        $($about)*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $struct {
            $($fields)*
        }

        impl From<&Config> for $struct {
            fn from(config: &Config) -> Self {
                Self { $($names: config.$names),* }
            }
        }
    };
    (@group core $about:tt $struct:ident {$($fields:tt)*} {$($names:ident)*}
        $(#[doc = $line:literal])+ (core $($also:ident)*) $name:ident: $type:ty; $($rest:tt)*) => {
        options! {
            @group core $about $struct {$($fields)* $(#[doc = $line])+ pub $name: $type,} {$($names)* $name}
            $($rest)*
        }
    };
    (@group control $about:tt $struct:ident {$($fields:tt)*} {$($names:ident)*}
        $(#[doc = $line:literal])+ ($(core)? control $($also:ident)*) $name:ident: $type:ty;
        $($rest:tt)*) => {
        options! {
            @group control $about $struct
            {$($fields)* $(#[doc = $line])+ pub $name: $type,} {$($names)* $name} $($rest)*
        }
    };
    (@group command $about:tt $struct:ident {$($fields:tt)*} {$($names:ident)*}
        $(#[doc = $line:literal])+ ($(core)? $(control)? command $($also:ident)*) $name:ident: $type:ty;
        $($rest:tt)*) => {
        options! {
            @group command $about $struct
            {$($fields)* $(#[doc = $line])+ pub $name: $type,} {$($names)* $name} $($rest)*
        }
    };
    (@group spawn $about:tt $struct:ident {$($fields:tt)*} {$($names:ident)*}
        $(#[doc = $line:literal])+ ($(core)? $(control)? $(command)? spawn) $name:ident: $type:ty;
        $($rest:tt)*) => {
        options! {
            @group spawn $about $struct
            {$($fields)* $(#[doc = $line])+ pub $name: $type,} {$($names)* $name} $($rest)*
        }
    };
    (@group $group:ident $about:tt $struct:ident $fields:tt $names:tt
        $(#[doc = $line:literal])+ ($($mark:ident)*) $name:ident: $type:ty; $($rest:tt)*) => {
        options! { @group $group $about $struct $fields $names $($rest)* }
    };
}
pub(super) use options;
